// Package command carries out what is commanded of points of MQTT devices: it publishes a value to the topic where the
// device takes it, and waits for the device to report it. To the dispatcher of control it is an owner of devices like package
// device. It knows the broker by a function.
package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"voltbus/broker/template"
	"voltbus/control"
	"voltbus/control/dispatch"
	"voltbus/fault"
	"voltbus/point"
)

// Known is a point that can be commanded, as it is kept: the topic it was found in, and what the maker of its command
// needs beside.
type Known struct {
	Point  point.Path
	Topic  string
	Detail string
}

// Storage keeps which points can be commanded, so that what was commanded of them outlives a restart.
type Storage interface {
	Commands(ctx context.Context, each func(Known)) error
	// PutCommands keeps points, all or none.
	PutCommands(ctx context.Context, list []Known) error
}

// Config is what a commander needs.
type Config struct {
	Storage Storage
	// Send publishes if a connected client subscribes to the topic, and reports whether one does. The message is of no use
	// after a time.
	Send func(topic string, payload []byte, within time.Duration) bool
	// Make returns how a point that was kept is commanded, nil if the configuration does not say that any more.
	Make func(Known) *template.Command
	Now  func() time.Time
	Log  *slog.Logger
}

// Commander commands points of MQTT devices. It is safe for concurrent use.
type Commander struct {
	cfg  Config
	kick chan struct{}

	mu      sync.RWMutex
	targets map[point.Path]*target
	devices map[point.Path]bool
	fresh   []Known // not kept yet
}

// target is a point that can be commanded.
type target struct {
	*template.Command
	spec control.Spec
	turn chan struct{} // has room while nobody writes

	mu     sync.Mutex
	sample point.Sample // that was reported last
	count  uint64       // of reports
	news   chan struct{}
}

// Open makes a commander with the points that were kept.
func Open(ctx context.Context, cfg Config) (*Commander, error) {
	c := &Commander{cfg: cfg, kick: make(chan struct{}, 1), targets: map[point.Path]*target{}, devices: map[point.Path]bool{}}
	err := cfg.Storage.Commands(ctx, func(k Known) {
		if made := cfg.Make(k); made != nil {
			c.put(made)
		}
	})
	return c, err
}

// put adds a point, or replaces how it is commanded.
func (c *Commander) put(made *template.Command) {
	t := &target{Command: made, spec: SpecOf(made), turn: make(chan struct{}, 1), news: make(chan struct{}, 1)}
	if before := c.targets[made.Point]; before != nil {
		t.sample, t.count = before.last()
	}
	c.targets[made.Point] = t
	c.devices[made.Device] = true
}

// SpecOf returns what control knows about a point.
func SpecOf(made *template.Command) control.Spec {
	s := control.Spec{
		Point: made.Point, Device: made.Device, Unit: made.Unit, Kind: made.Kind, Writable: true, Default: made.Initial, Revert: control.Revert(made.Revert),
		Policy: &control.Policy{Range: control.Range{Min: made.Min, Max: made.Max}, Longest: made.Lease, Tolerance: made.Tolerance},
	}
	if s.Revert == "" && s.Default.Kind() == point.None {
		s.Revert = control.RevertBefore
	}
	return s
}

// Add takes a point that was found. It returns at once.
func (c *Commander) Add(topic string, made *template.Command) {
	c.mu.Lock()
	c.put(made)
	c.fresh = append(c.fresh, Known{Point: made.Point, Topic: topic, Detail: made.Detail})
	c.mu.Unlock()
	select {
	case c.kick <- struct{}{}:
	default:
	}
}

// Points returns what control knows about all points.
func (c *Commander) Points() []dispatch.Point {
	c.mu.RLock()
	defer c.mu.RUnlock()
	list := make([]dispatch.Point, 0, len(c.targets))
	for _, t := range c.targets {
		list = append(list, dispatch.Point{Spec: t.spec})
	}
	return list
}

// Owns reports whether a point is one of an MQTT device that can be commanded.
func (c *Commander) Owns(path point.Path) bool { return c.find(path) != nil }

func (c *Commander) find(path point.Path) *target {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.targets[path]
}

// again is how long a failed write of the list of points is left alone.
const again = time.Second

// Run keeps points that were found, and then has them declared to control, until ctx ends.
func (c *Commander) Run(ctx context.Context, declare func(context.Context) error) error {
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-c.kick:
		case <-pause.C:
		}
		if err := c.keep(ctx, declare); err != nil && ctx.Err() == nil {
			c.cfg.Log.WarnContext(ctx, "points of MQTT devices cannot be commanded yet; it is tried again", slog.Any("err", err))
			pause.Reset(again)
		}
	}
}

// keep keeps and declares the points that were found.
func (c *Commander) keep(ctx context.Context, declare func(context.Context) error) error {
	c.mu.Lock()
	fresh := c.fresh
	c.fresh = nil
	c.mu.Unlock()
	if len(fresh) == 0 {
		return nil
	}
	err := c.cfg.Storage.PutCommands(ctx, fresh)
	if err == nil {
		err = declare(ctx)
	}
	if err != nil {
		c.mu.Lock()
		c.fresh = append(fresh, c.fresh...)
		c.mu.Unlock()
	}
	return err
}

// Hear takes what a device reports. It does not wait. The scan stays the caller's.
func (c *Commander) Hear(scan *point.Scan) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if !c.devices[scan.Device] {
		return
	}
	for i := range scan.Samples {
		if t := c.targets[scan.Samples[i].Point]; t != nil {
			t.hear(scan.Samples[i])
		}
	}
}

func (t *target) hear(s point.Sample) {
	t.mu.Lock()
	t.sample = s
	t.count++
	t.mu.Unlock()
	select {
	case t.news <- struct{}{}:
	default:
	}
}

// last returns the last report, and how many there were.
func (t *target) last() (point.Sample, uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sample, t.count
}

var errNone = errors.New("no MQTT device has such a point")

// absent is the error of a device that does not listen.
func absent(topic string) error {
	return fault.E("command.Write", fault.Unreachable, "", fmt.Errorf("it is not connected, or does not subscribe to %s, where it takes commands", topic))
}
