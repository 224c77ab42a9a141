package bacnet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"

	"voltbus/api/answer"
	"voltbus/api/client"
	"voltbus/fault"
	"voltbus/gateway/feed"
	"voltbus/point"
	bacnet "voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/server"
	"voltbus/protocol/bacnet/transaction"
)

// Node is the source of points, history and priority arrays; [API] implements it.
type Node interface {
	feed.Node
	Aggregate(ctx context.Context, s client.Span, how client.Steps) (answer.Aggregate, error)
	// ControlPoints returns a page of points as those see them who command them.
	ControlPoints(ctx context.Context, pattern, after string) (answer.ControlPoints, error)
}

// Commander commands points of the node in the name of a person; [API] implements it.
type Commander interface {
	// Command sets a point, and waits a while for what its device says.
	Command(ctx context.Context, c answer.NewCommand) (answer.Commanded, error)
	// Release ends commands.
	Release(ctx context.Context, s answer.CommandSelection) error
}

// Gateway serves points of a node to BACnet clients. New starts nothing; Run does the work.
type Gateway struct {
	mapping   *Mapping
	node      Node
	log       *slog.Logger
	instances *Instances
	objects   []*object
	byPath    map[point.Path][]*object
	feed      *feed.Feed
	views     *views
	commands  *commands
	unserved  atomic.Int64 // points that patterns select since the start
	answers   atomic.Bool  // the node answers

	mu     sync.Mutex
	device *server.Device // nil unless it runs
}

// Config says what a gateway serves, and to whom.
type Config struct {
	Mapping *Mapping // checked
	Node    Node
	// People holds, in the order of the mapping's writers, who commands for each.
	People    []Commander
	Instances *Instances
	Log       *slog.Logger
}

// Errors of New.
var (
	errUnknownType = errors.New("the node does not have the point, so its type is not known; correct the path (voltbus points lists them), or write the type of the object")
	errTextLog     = errors.New("is a text, which has no trend log; leave trend_log out")
)

// New asks the node about the points of the mapping, and returns their gateway. The error says what to change in the mapping. Save the
// instances before the objects are served.
func New(ctx context.Context, c Config) (*Gateway, error) {
	g := &Gateway{mapping: c.Mapping, node: c.Node, log: c.Log, instances: c.Instances, byPath: map[point.Path][]*object{}}
	g.views = newViews(c.Node, c.Log)
	var err error
	if g.commands, err = newCommands(c.Mapping, c.People, g.views); err != nil {
		return nil, fault.E("gateway.New", fault.Invalid, "writers", err)
	}
	served, err := g.choose(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.claim(served); err != nil {
		return nil, err
	}
	commanded := false
	for i := range served {
		o, err := g.build(&served[i])
		if err != nil {
			return nil, err
		}
		g.objects = append(g.objects, o)
		g.byPath[o.path] = append(g.byPath[o.path], o)
		commanded = commanded || o.writes
	}
	f := feed.Config{Node: c.Node, Points: slices.Sorted(maps.Keys(g.byPath)), Show: g.show, Lost: g.lost, Log: c.Log}
	if commanded {
		g.views.follow(g.objects)
		f.Control = g.views.event
	}
	g.feed = feed.New(f)
	return g, nil
}

// Open opens the socket of the device. The caller runs the gateway, or closes the device.
func (g *Gateway) Open(ctx context.Context, c ip.Config, version string) (*server.Device, error) {
	m := g.mapping
	c.Allow = g.allowed()
	d, err := server.Open(ctx, server.Config{
		Instance: uint32(m.Device), Name: m.Name, Description: m.Description, Location: m.Location, Vendor: uint16(m.Vendor),
		Model: "Voltbus gateway", Version: version, MaxSubscriptions: m.MaxSubscriptions,
		Client: bacnet.Config{IP: c, Transaction: transaction.Config{MaxAPDU: m.MaxAPDU}},
	})
	if err != nil {
		return nil, fault.E("gateway.Open", fault.Unavailable, m.Local, fmt.Errorf("%w; if another program has the port, write one behind the subnet, such as 10.0.0.5/24:47809", err))
	}
	d.SetOperational(false) // until the node has answered
	for _, o := range g.objects {
		if err := o.add(d); err != nil {
			return nil, errors.Join(fault.E("gateway.Open", fault.Invalid, "points", err), d.Close())
		}
	}
	return d, nil
}

// Run serves clients on an open device, which it closes, until ctx ends; then it returns nil.
func (g *Gateway) Run(ctx context.Context, d *server.Device) error {
	g.mu.Lock()
	g.device = d
	g.mu.Unlock()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var running sync.WaitGroup
	running.Go(func() { g.feed.Run(ctx) })
	running.Go(func() { g.views.run(ctx) })
	running.Go(func() { g.findLogs(ctx) })
	running.Go(func() { g.watchPatterns(ctx) })
	err := d.Announce()
	if err != nil && !errors.Is(err, ip.ErrNoBroadcast) {
		g.log.WarnContext(ctx, "the device is not announced", slog.Any("err", err))
	}
	<-ctx.Done()
	running.Wait()
	return d.Close()
}

// allowed returns which stations may speak to the device; nil for all.
func (g *Gateway) allowed() func(ip.Address) bool {
	if len(g.mapping.Allow) == 0 {
		return nil
	}
	var from []netip.Prefix
	for _, text := range g.mapping.Allow {
		if prefix, err := parseFrom(text); err == nil { // the mapping is checked
			from = append(from, prefix)
		}
	}
	return func(a ip.Address) bool { return contain(from, a) }
}

// nodeAnswers notes whether the node answers.
func (g *Gateway) nodeAnswers(is bool) {
	g.answers.Store(is)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.device != nil {
		g.device.SetOperational(is)
	}
}
