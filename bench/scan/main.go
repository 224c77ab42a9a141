// Command scan measures how long one scan of many devices takes until the last listener has the
// last message. See README.md beside it.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"voltbus/bus"
	"voltbus/catalog"
	"voltbus/device"
	"voltbus/driver/sim"
	"voltbus/identity"
	"voltbus/internal/memory"
	"voltbus/point"
	"voltbus/wire"
)

func main() {
	memory.Tune()
	var b bench
	flag.IntVar(&b.devices, "devices", 10_000, "simulated devices")
	flag.IntVar(&b.points, "points", 18, "points of each")
	flag.IntVar(&b.listeners, "listeners", 1, "listeners, each with its own encrypted connection")
	flag.IntVar(&b.scans, "scans", 5, "scans that are timed")
	flag.DurationVar(&b.interval, "interval", 2*time.Second, "between scans")
	profile := flag.String("cpuprofile", "", "file for a CPU profile")
	flag.Parse()
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			fmt.Fprintln(os.Stderr, "scan:", err)
			os.Exit(1)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			fmt.Fprintln(os.Stderr, "scan:", err)
		}
		defer pprof.StopCPUProfile()
	}
	if err := b.run(); err != nil {
		fmt.Fprintln(os.Stderr, "scan:", err)
		os.Exit(1)
	}
}

type bench struct {
	devices, points, listeners, scans int
	interval                          time.Duration
}

// outlet publishes scans as a node does.
type outlet struct {
	publishers sync.Pool
}

func (o *outlet) Live(scan *point.Scan, _ device.Forms) {
	p := o.publishers.Get().(*bus.Publisher)
	if err := p.Publish(scan, bus.Forms{Scan: true}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	o.publishers.Put(p)
}

func (o *outlet) Record([]point.Sample) {}

func (b *bench) run() (err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	dir, err := os.MkdirTemp("", "voltbus-bench-scan")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	cat, err := catalog.Open(ctx, dir, time.Now)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cat.Close()) }()
	id, err := identity.Open(ctx, identity.Options{Dir: dir, Node: "bench", Accounts: cat})
	if err != nil {
		return err
	}
	server, err := bus.Open(bus.Config{
		Name: "bench", Dir: filepath.Join(dir, "log"), Listen: "127.0.0.1:0", TLS: id.Certificates.ServerConfig(),
		Key: id.Node, Log: slog.New(slog.DiscardHandler),
		Role: func(key string) (bus.Role, bool) { return bus.Reader, key == id.Admin.Public() },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close()) }()
	scans := newScans(b.devices*b.listeners, b.scans+1)
	for range b.listeners {
		conn, err := b.listen(server.Addr(), id, scans)
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	if err := b.collect(ctx, server, scans); err != nil {
		return err
	}
	return scans.report(b)
}

// listen connects a listener over TLS 1.3, which parses the head of every message.
func (b *bench) listen(addr string, id *identity.Identity, scans *scans) (*nats.Conn, error) {
	client := id.Certificates.ClientConfig()
	client.MinVersion = tls.VersionTLS13
	conn, err := nats.Connect("tls://"+addr, nats.Secure(client), nats.Nkey(id.Admin.Public(), id.Admin.Sign),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { fmt.Fprintln(os.Stderr, err) }))
	if err != nil {
		return nil, err
	}
	sub, err := conn.Subscribe(wire.ScanPrefix+">", func(m *nats.Msg) { scans.receive(m.Data) })
	if err != nil {
		return nil, err
	}
	if err := sub.SetPendingLimits(-1, -1); err != nil {
		return nil, err
	}
	return conn, conn.Flush()
}

// collect runs the devices until enough scans were received.
func (b *bench) collect(ctx context.Context, server *bus.Bus, scans *scans) error {
	o := &outlet{publishers: sync.Pool{New: func() any { return server.NewPublisher() }}}
	fleet := device.New(o, slog.New(slog.DiscardHandler), device.Limits{})
	configs := make([]device.Config, b.devices)
	for i := range configs {
		cfg := sim.NewConfig()
		cfg.Model, cfg.Count, cfg.Seed = "random", b.points, int64(i)
		cfg.Line = fmt.Sprint("line", i%64)
		configs[i] = device.Config{
			Path: point.Path(fmt.Sprintf("campus/building%d/device%d", i/100, i)), Kind: sim.Kind(), Driver: cfg,
			Interval: b.interval, Publish: device.FormScan,
		}
	}
	if err := fleet.Apply(configs); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- fleet.Run(running) }()
	var err error
	select {
	case <-scans.complete:
	case <-time.After(time.Duration(b.scans+10) * b.interval):
		err = errors.New("the scans do not arrive")
	}
	stop()
	return errors.Join(err, <-done)
}

// scans gathers receipts by slot.
type scans struct {
	want     int
	slots    int
	mu       sync.Mutex
	bySlot   map[string]*slot
	full     int
	complete chan struct{}
}

type slot struct {
	received atomic.Int64
	first    atomic.Int64 // earliest time in a message, µs
	last     time.Time
}

func newScans(want, slots int) *scans {
	return &scans{want: want, slots: slots, bySlot: map[string]*slot{}, complete: make(chan struct{})}
}

// The places of the two times in a live message are found by their keys; parsing the whole body
// would measure the listener's JSON.
func (s *scans) receive(data []byte) {
	at, when := field(data, `"slot":"`), field(data, `"time":"`)
	t, err := time.Parse(time.RFC3339, when)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sl := s.bySlot[at]
	if sl == nil {
		sl = &slot{}
		sl.first.Store(t.UnixMicro())
		s.bySlot[at] = sl
	}
	sl.first.Store(min(sl.first.Load(), t.UnixMicro()))
	if int(sl.received.Add(1)) == s.want {
		sl.last = time.Now()
		if s.full++; s.full == s.slots {
			close(s.complete)
		}
	}
}

func field(data []byte, key string) string {
	_, rest, _ := bytes.Cut(data, []byte(key))
	value, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(value)
}

func (s *scans) report(b *bench) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var took []float64
	for _, sl := range s.bySlot {
		if int(sl.received.Load()) == s.want {
			took = append(took, sl.last.Sub(time.UnixMicro(sl.first.Load())).Seconds())
		}
	}
	if len(took) < b.scans {
		return errors.New("not every scan arrived whole")
	}
	slices.Sort(took)
	fmt.Printf("%d devices × %d points, %d listeners: median %.4f s (min %.4f, max %.4f, %d scans)\n",
		b.devices, b.points, b.listeners, took[len(took)/2], took[0], took[len(took)-1], len(took))
	return nil
}
