package dnp3

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/gateway/feed"
	"voltbus/point"
	"voltbus/protocol/dnp3/channel"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation"
	"voltbus/protocol/dnp3/station"
)

// Gateway serves points of a node to masters. New starts nothing; Run does the work.
type Gateway struct {
	mapping *Mapping
	log     *slog.Logger
	device  *outstation.Outstation
	ports   []*station.Port
	byPath  map[point.Path][]*Point // a point may map to several objects
	feed    *feed.Feed
}

// New returns a gateway for a checked mapping. The error says what to change in the mapping.
func New(m *Mapping, node feed.Node, log *slog.Logger) (*Gateway, error) {
	g := &Gateway{mapping: m, log: log, byPath: make(map[point.Path][]*Point)}
	for i := range m.Points {
		path := point.Path(m.Points[i].Point)
		g.byPath[path] = append(g.byPath[path], &m.Points[i])
	}
	g.feed = feed.New(feed.Config{Node: node, Points: slices.Collect(maps.Keys(g.byPath)), Show: g.show, Lost: g.lose, Between: true, Log: log})
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
	running.Go(func() { g.feed.Run(ctx) })
	err = server.Run(ctx, g.guard(ctx, listener))
	cancel()
	return err
}

// Missing asks the node for every point of the mapping, and returns those that it does not have, in path order. The
// gateway serves the others, and these as soon as the node has them; until then they are not online. Call it before
// Run, which then does not report these points again.
func (g *Gateway) Missing(ctx context.Context) ([]point.Path, error) { return g.feed.Missing(ctx) }
