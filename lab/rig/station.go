package rig

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"voltbus/config"
	"voltbus/driver/all"
	"voltbus/fault"
	"voltbus/internal/memory"
	"voltbus/lab/load"
	"voltbus/node"
	"voltbus/point"
)

// Station is a whole node in a process of its own that measures how long after their time samples
// are in its store, and that can be told to stop reading its devices.
type Station struct {
	Config string `json:"config"`
	Apart  string `json:"apart"` // node whose samples are counted apart from the others; "" for none
}

const stationKind = "station"

// Delays returns how long after their time samples were stored, since the last call.
type Delays struct {
	Bars    []load.Bar `json:"bars"`
	Apart   uint64     `json:"apart"`   // samples of the node that is counted apart
	Heap    uint64     `json:"heap"`    // bytes that are in use
	Taken   uint64     `json:"taken"`   // bytes that Go has of the system, those in use among them
	Failure string     `json:"failure"` // why the order was not followed
}

// The orders that a station follows.
const (
	orderDelays = "delays"
	orderHush   = "hush"
)

// Open starts the node and waits until it listens. Close it, or Kill it and then Close it.
func (s Station) Open(ctx context.Context, program []string) (*Running, error) {
	return OpenAs(ctx, program, stationKind, s)
}

// Delays asks a station for what was stored since the question before.
func (r *Running) Delays() (d Delays, err error) { return d, r.order(orderDelays, &d) }

// Hush ends the reading of a station's devices. What was read before is kept and sent.
func (r *Running) Hush() error { return r.order(orderHush, &Delays{}) }

func (r *Running) order(what string, d *Delays) error {
	if _, err := fmt.Fprintln(r.In, what); err != nil {
		return r.failed(err)
	}
	if err := r.Next(d); err != nil {
		return err
	}
	if d.Failure != "" {
		return fault.E("rig.Station", fault.Unavailable, what, errors.New(d.Failure))
	}
	return nil
}

// clockwork notes when samples are stored. It is safe for concurrent use.
type clockwork struct {
	name string // counted apart

	mu    sync.Mutex
	h     *load.Histogram
	apart uint64
}

// stored is called with what the store has.
func (c *clockwork) stored(blocks []*point.Block) {
	now := time.Now().UnixMicro()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range blocks {
		if c.name != "" && nodeOf(b.Origin) == c.name {
			c.apart += uint64(b.Len())
			continue
		}
		for _, t := range b.Time {
			c.h.Add(time.Duration(now-t) * time.Microsecond)
		}
	}
}

// nodeOf is the name of the node of an origin.
func nodeOf(origin string) string {
	name, _, _ := strings.Cut(origin, "~")
	return name
}

// take returns what was noted since the last time.
func (c *clockwork) take() Delays {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	c.mu.Lock()
	defer c.mu.Unlock()
	d := Delays{Bars: c.h.Bars(), Apart: c.apart, Heap: m.HeapInuse + m.StackInuse, Taken: m.Sys - m.HeapReleased}
	c.h, c.apart = load.NewHistogram(), 0
	return d
}

// serveStation runs a node in this process and follows orders until in is closed.
func serveStation(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Scan()
	var s Station
	if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
		return fault.E("rig.Serve", fault.Invalid, stationKind, err)
	}
	memory.Tune()
	cfg, err := config.Load(s.Config, all.Kinds())
	if err != nil {
		return err
	}
	c := &clockwork{name: s.Apart, h: load.NewHistogram()}
	n, err := node.Open(ctx, node.Options{
		Config: cfg, Kinds: all.Kinds(), Stored: c.stored, Statement: statementCommand,
		Log: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return err
	}
	if err := say(out, NodeReady{HTTP: n.HTTPAddr(), Bus: n.BusAddr(), Data: cfg.Node.Data}); err != nil {
		return errors.Join(err, n.Close()) //nolint:contextcheck // what is closed is written, whoever waits
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with the input, that is with this process at the latest
		defer cancel()
		for lines.Scan() {
			if say(out, follow(ctx, n, c, cfg, lines.Text())) != nil {
				return
			}
		}
	}()
	return n.Run(ctx)
}

func follow(ctx context.Context, n *node.Node, c *clockwork, cfg *config.Config, order string) (d Delays) {
	switch order {
	case orderDelays:
		return c.take()
	case orderHush:
		quiet := *cfg
		quiet.Devices = nil
		if _, err := n.Reload(ctx, &quiet); err != nil {
			d.Failure = err.Error()
		}
	default:
		d.Failure = "there is no such order"
	}
	return d
}
