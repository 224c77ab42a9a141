// Package scan measures how long one scan of many simulated devices takes to reach listeners in separate processes.
package scan

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/bus"
	"voltbus/bus/peer"
	"voltbus/bus/permit"
	"voltbus/catalog"
	"voltbus/device"
	"voltbus/driver/sim"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/lab/rig"
	"voltbus/point"
)

// Scan is a set-up for the interval of a scrape: simulated devices, the device owner and the bus in
// this process, and listeners on encrypted connections of their own.
type Scan struct {
	Devices   int
	Points    int // of each device
	Listeners int
	Scans     int           // that are measured; one more comes before as the warm-up
	Interval  time.Duration // between the beginnings of two scans
	Seed      int64
	Dir       string   // an empty directory
	Program   []string // how to start listeners in processes of their own; nil for this one
	// Watch is called after each whole scan with its figures; nil for nobody.
	Watch func(Scrape)
}

// Scrape is one scan that all listeners received.
type Scrape struct {
	Mean    time.Duration // over the listeners: the published figure
	Slowest time.Duration // of the listener that had its last message last
}

// Run collects until enough scans were received, and returns one figure for each. It fails with
// fault.Timeout when a scan does not arrive whole.
func (s *Scan) Run(ctx context.Context) (_ []Scrape, err error) {
	cat, err := catalog.Open(ctx, s.Dir, time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, cat.Close()) }() //nolint:contextcheck // closing is not given up
	id, err := identity.Open(ctx, identity.Options{Dir: s.Dir, Node: "lab", Accounts: cat})
	if err != nil {
		return nil, err
	}
	server, err := bus.Open(bus.Config{
		Name: "lab", Dir: filepath.Join(s.Dir, "log"), Listen: "127.0.0.1:0", TLS: id.Certificates.ServerConfig(),
		Key: id.Node, Log: slog.New(slog.DiscardHandler),
		Limits: bus.Limits{Connections: 1 << 20}, // all listeners hold one key
		Admit: func(key string) (permit.Permit, bool) {
			return permit.Reader(identity.AdminName), key == id.Admin.Public()
		},
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	h := newHall(s)
	defer func() { err = errors.Join(err, h.close()) }()
	l := rig.Listener{Address: server.Addr(), CA: id.Certificates.CAFile(), Key: id.Admin.File(), Want: s.Devices}
	if err := h.open(l); err != nil {
		return nil, err
	}
	return s.collect(ctx, server, h)
}

// outlet publishes scans as a node does.
type outlet struct {
	publishers sync.Pool
}

// Hear implements device.Outlet.
func (o *outlet) Hear(*point.Scan) {}

// Live implements device.Outlet. A message that cannot be sent is missed by the listeners.
func (o *outlet) Live(scan *point.Scan, _ device.Forms) {
	if p, ok := o.publishers.Get().(*bus.Publisher); ok {
		_ = p.Publish(scan, bus.Forms{Scan: true})
		o.publishers.Put(p)
	}
}

// Record implements device.Outlet.
func (o *outlet) Record([]point.Sample) bool { return true }

// Settle implements device.Outlet.
func (o *outlet) Settle(kept func()) { kept() }

// collect runs the devices until the listeners have enough.
func (s *Scan) collect(ctx context.Context, server *bus.Bus, h *hall) ([]Scrape, error) {
	o := &outlet{publishers: sync.Pool{New: func() any { return server.NewPublisher() }}}
	fleet := device.New(o, slog.New(slog.DiscardHandler), device.Limits{})
	if err := fleet.Apply(s.devices()); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	var group errgroup.Group
	group.Go(func() error { return fleet.Run(running) })
	scrapes, err := h.gather(ctx)
	stop()
	return scrapes, errors.Join(err, group.Wait())
}

func (s *Scan) devices() []device.Config {
	configs := make([]device.Config, s.Devices)
	for i := range configs {
		cfg := sim.NewConfig()
		cfg.Model, cfg.Count, cfg.Seed = "random", s.Points, s.Seed+int64(i)
		cfg.Line = "line" + strconv.Itoa(i%rig.Lines)
		configs[i] = device.Config{
			Path: point.Path(fmt.Sprintf("campus/building%d/device%d", i/100, i)), Kind: sim.Kind(), Driver: cfg,
			Interval: s.Interval, Publish: device.FormScan,
		}
	}
	return configs
}

// hall holds the listeners.
type hall struct {
	scan     *Scan
	arrivals chan rig.Arrival
	failed   chan error
	done     chan struct{}
	clients  []*peer.Client
	children []*rig.Child
	readers  sync.WaitGroup
}

func newHall(s *Scan) *hall {
	return &hall{
		scan: s, arrivals: make(chan rig.Arrival, s.Listeners*(s.Scans+4)), failed: make(chan error, 1), done: make(chan struct{}),
	}
}

// open connects all listeners.
func (h *hall) open(l rig.Listener) error {
	for range h.scan.Listeners {
		if err := h.add(l); err != nil {
			return err
		}
	}
	return nil
}

func (h *hall) add(l rig.Listener) error {
	if h.scan.Program == nil {
		client, err := l.Listen(h.arrive, h.fail)
		if err == nil {
			h.clients = append(h.clients, client)
		}
		return err
	}
	child, err := rig.Start(h.scan.Program, rig.ListenerKind, l)
	if err != nil {
		return err
	}
	h.children = append(h.children, child)
	var s rig.Said
	if err := child.Next(&s); err != nil {
		return err
	}
	h.readers.Go(func() { h.read(child) })
	return nil
}

func (h *hall) arrive(a rig.Arrival) {
	select {
	case h.arrivals <- a:
	case <-h.done:
	}
}

func (h *hall) fail(err error) {
	select {
	case h.failed <- err:
	default:
	}
}

// read passes on what a listener's process says.
func (h *hall) read(c *rig.Child) {
	for {
		var s rig.Said
		err := c.Next(&s)
		switch {
		case err != nil:
			h.fail(err)
			return
		case s.Error != "":
			h.fail(errors.New(s.Error))
		case s.Arrival != nil:
			h.arrive(*s.Arrival)
		}
	}
}

// close disconnects the listeners. The readers end with their processes.
func (h *hall) close() error {
	close(h.done)
	for _, c := range h.clients {
		c.Close()
	}
	var errs []error
	for _, c := range h.children {
		_ = c.In.Close()
	}
	h.readers.Wait()
	for _, c := range h.children {
		errs = append(errs, c.Stop())
	}
	return errors.Join(errs...)
}

// patience is how many intervals more than necessary the scans may take.
const patience = 20

// gather waits until all listeners have enough whole scans behind the warm-up.
func (h *hall) gather(ctx context.Context) ([]Scrape, error) {
	s := h.scan
	late := time.NewTimer(time.Duration(s.Scans+patience)*s.Interval + time.Minute)
	defer late.Stop()
	slots := map[string][]rig.Arrival{}
	var scrapes []Scrape
	for whole := 0; ; {
		select {
		case <-ctx.Done():
			return nil, fault.E("rig.Scan", fault.Canceled, "", ctx.Err())
		case err := <-h.failed:
			return nil, fault.E("rig.Scan", fault.Unavailable, "listener", err)
		case <-late.C:
			return nil, fault.E("rig.Scan", fault.Timeout, "", fmt.Errorf(
				"only %d of %d scans arrived whole; the machine is too slow for the interval of %v, set a longer one", whole, s.Scans+1, s.Interval))
		case a := <-h.arrivals:
			slots[a.Slot] = append(slots[a.Slot], a)
			if len(slots[a.Slot]) < s.Listeners {
				continue
			}
			if whole++; whole == 1 {
				continue // the warm-up
			}
			scrapes = append(scrapes, scrape(slots[a.Slot]))
			delete(slots, a.Slot)
			if s.Watch != nil {
				s.Watch(scrapes[len(scrapes)-1])
			}
			if len(scrapes) == s.Scans {
				return scrapes, nil
			}
		}
	}
}

// scrape summarises the arrivals of one scan. The slowest counts from the earliest header that
// anybody saw.
func scrape(arrivals []rig.Arrival) Scrape {
	var sum time.Duration
	first, last := arrivals[0].First, arrivals[0].Last
	for i := range arrivals {
		sum += arrivals[i].Took()
		first, last = min(first, arrivals[i].First), max(last, arrivals[i].Last)
	}
	return Scrape{
		Mean: sum / time.Duration(len(arrivals)), Slowest: time.Duration(last-first) * time.Microsecond,
	}
}
