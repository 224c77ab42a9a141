package dnp3

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

const (
	refresh = 30 * time.Second // interval of requests for all newest values, in addition to the stream
	batch   = 50               // points per request

	mostBetween = 10_000          // samples of a point between two requests
	pause       = 2 * time.Second // before retrying a node that did not answer, or points that the stream does not deliver
)

// Node is the source of the points; *client.Client implements it.
type Node interface {
	Latest(ctx context.Context, s client.Span) (answer.Latest, error)
	Range(ctx context.Context, s client.Span, limit int, newest bool) (answer.Range, error)
	Points(ctx context.Context, f client.Filter) (answer.Points, error)
	Stream(ctx context.Context, pattern string, emit func(json.RawMessage) error) error
}

// Gateway serves points of a node to masters. New starts nothing; Run does the work.
type Gateway struct {
	mapping *Mapping
	node    Node
	log     *slog.Logger
	device  *outstation.Outstation
	ports   []*station.Port
	byPath  map[point.Path][]*Point // a point may map to several objects
	pattern string                  // for live messages about these points

	shown  map[point.Path]time.Time // of the newest value requested; owned by keepUp
	absent map[point.Path]bool      // points that the node does not have, which was reported to the operator; owned by keepUp, and by Missing before it

	mu    sync.Mutex
	heard map[point.Path]bool // points recently delivered by the stream
}

var errEnded = errors.New("the stream of live values has ended")

// New returns a gateway for a checked mapping. The error says what to change in the mapping.
func New(m *Mapping, node Node, log *slog.Logger) (*Gateway, error) {
	g := &Gateway{mapping: m, node: node, log: log, byPath: make(map[point.Path][]*Point), heard: make(map[point.Path]bool), shown: make(map[point.Path]time.Time), absent: make(map[point.Path]bool)}
	for i := range m.Points {
		path := point.Path(m.Points[i].Point)
		g.byPath[path] = append(g.byPath[path], &m.Points[i])
	}
	g.pattern = common(slices.Collect(maps.Keys(g.byPath)))
	var err error
	g.device, err = outstation.New(outstation.Config{
		Points: m.configs(), Attributes: attributes(), Callbacks: outstation.Callbacks{Select: g.refuse, Operate: func(_ *outstation.Tx, c outstation.Command) object.Status { return g.refuse(c) }},
	})
	if err != nil {
		return nil, fault.E("gateway.New", fault.Invalid, "", err)
	}
	for _, master := range m.Masters {
		session, err := g.device.Session(outstation.SessionConfig{Master: link.Address(master), Unsolicited: true})
		if err == nil {
			var port *station.Port
			port, err = station.NewPort(station.Config{
				Local: link.Address(m.Outstation), Remote: link.Address(master), KeepAlive: time.Minute,
			}, session)
			g.ports = append(g.ports, port)
		}
		if err != nil {
			return nil, fault.E("gateway.New", fault.Invalid, "", err)
		}
	}
	return g, nil
}

// attributes describe the device (Annex A, g0v250: its product name and model).
func attributes() map[uint8]object.Attribute {
	const product = 250
	return map[uint8]object.Attribute{product: {Type: object.AttributeText, Data: []byte("Voltbus")}}
}

// refuse answers commands: they are not allowed this way, and most points accept none at all.
func (g *Gateway) refuse(c outstation.Command) object.Status {
	want := object.KindBinaryOutput
	if c.Kind == object.KindAnalogCommand {
		want = object.KindAnalogOutput
	}
	for i := range g.mapping.Points {
		if p := &g.mapping.Points[i]; p.kind().kind == want && uint32(p.Index) == c.Index {
			return object.StatusNotAuthorized
		}
	}
	return object.StatusNotSupported
}

// listener opens the listener of the mapping, secured if a TLS configuration is given.
func (m *Mapping) listener(ctx context.Context, secure *tls.Config) (net.Listener, error) {
	listener, err := channel.Listen(ctx, m.Listen, secure)
	if err != nil {
		return nil, fault.E("gateway.Listen", fault.Unavailable, m.Listen, fmt.Errorf("%w; write another address as listen, or with --listen, or end what has it", err))
	}
	return listener, nil
}

// guard refuses masters from addresses that the mapping does not allow.
func (g *Gateway) guard(ctx context.Context, listener net.Listener) net.Listener {
	var allowed []netip.Prefix
	for _, text := range g.mapping.Allow {
		if prefix, err := channel.ParseAllowed(text); err == nil { // the mapping is checked
			allowed = append(allowed, prefix)
		}
	}
	if len(allowed) == 0 {
		return listener
	}
	refused := 0
	return channel.Allow(listener, allowed, func(from net.Addr) {
		if refused++; refused&(refused-1) == 0 {
			g.log.WarnContext(ctx, "connection from an address that allow does not hold",
				slog.String("peer", from.String()), slog.Int("count", refused))
		}
	})
}

// Run serves masters on a listener, which it closes, until ctx ends; then it returns nil.
func (g *Gateway) Run(ctx context.Context, listener net.Listener) error {
	hub := channel.NewHub(channel.HubConfig{})
	server, err := channel.NewServer(hub, channel.ServerConfig{Ports: g.ports, Notify: func(s channel.State) {
		g.log.InfoContext(ctx, "connection of a master", slog.Bool("online", s.Online), slog.String("peer", s.Peer))
	}})
	if err != nil {
		_ = listener.Close()
		return fault.E("gateway.Run", fault.Invalid, "", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { _ = hub.Run(ctx) })
	running.Go(func() { g.keepUp(ctx) })
	err = server.Run(ctx, g.guard(ctx, listener))
	cancel()
	return err
}

// keepUp follows the node until ctx ends, and starts over when it does not answer.
func (g *Gateway) keepUp(ctx context.Context) {
	failures := 0
	for ctx.Err() == nil {
		began := time.Now()
		err := g.followOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > refresh {
			failures = 0 // it has answered for a while
		}
		if failures++; failures&(failures-1) == 0 {
			g.log.WarnContext(ctx, "the node does not give its points", slog.Int("count", failures), slog.Any("err", err))
		}
		g.lose()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// followOnce receives the newest values and every change, until the node no longer delivers either. It
// requests all values at the start, because the stream carries only changes, and now and then during the
// stream; those that the stream does not deliver are requested repeatedly.
func (g *Gateway) followOnce(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	var following sync.WaitGroup
	defer following.Wait()
	defer cancel(nil)
	following.Go(func() { cancel(cmp.Or(g.follow(ctx), errEnded)) })
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	g.forget()
	paths, all := g.all(), true
	for tick := 1; ; tick++ {
		if err := g.ask(ctx, paths, all); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
		if paths, all = g.unheard(), tick%int(refresh/pause) == 0; all {
			paths = g.all()
		}
	}
}

// all returns the paths of all points.
func (g *Gateway) all() []string {
	paths := make([]string, 0, len(g.byPath))
	for path := range g.byPath {
		paths = append(paths, string(path))
	}
	return paths
}
