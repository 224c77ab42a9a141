package dispatch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/lastvalue"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// Devices reads and writes devices, as package device does.
type Devices interface {
	WriteEach(ctx context.Context, settings []device.Setting, tell func(place int, o device.Outcome))
	WriteMany(ctx context.Context, settings []device.Setting) []device.Outcome
	ReadMany(ctx context.Context, paths []point.Path) []device.Reading
}

// Journal keeps the state of the model, as package journal does.
type Journal interface {
	// Load returns the stored state; without records if there is none.
	Load(ctx context.Context) (control.State, error)
	// Keep stores records over those of the same kind and key, all or none. They are on disk when it
	// returns.
	Keep(ctx context.Context, records []control.Record) error
	// SetAside renames the old state, starts over, and returns where the old one is.
	SetAside(ctx context.Context) (file string, err error)
}

// Audit records who did what, as package audit does.
type Audit interface {
	Append(ctx context.Context, entries ...audit.Entry) error
}

// Point is a point known to the dispatcher.
type Point struct {
	control.Spec
	// Heartbeat is the interval at which the point is toggled, so that its device falls back by itself when
	// the node fails; 0 for an ordinary point. Such a point cannot be commanded.
	Heartbeat time.Duration
}

// Config is what a dispatcher needs. Devices, Journal, Audit and Log are required.
type Config struct {
	Points  []Point
	Limits  control.Limits
	Devices Devices
	Journal Journal
	Audit   Audit
	// Online returns a function that reports whether a requester is currently connected: an agent on the bus, a caller of another node
	// while that node is reachable. People of this node always are. nil if unknown, and then nobody counts as disconnected.
	Online func() func(requester string) bool
	// Absence is how long a requester may be disconnected before everything of it ends; 0 means 1 min.
	Absence time.Duration
	// Record stores commanded values, as samples of points below Prefix, and lists those that it sees for the
	// first time. It may take its time. May be nil.
	Record func(ctx context.Context, fresh []point.Info, samples []point.Sample) error
	// MismatchedPoint is called with the points whose value is not the commanded one, whenever they or their states change; may be
	// nil. It must return at once, and must not modify the list.
	Mismatches func([]control.MismatchedPoint)
	// Clock is the clock; nil for the machine's.
	Clock func() control.Instant
	// Watchers also watch other dispatchers, which take turns with this one: they are not closed at its end. nil for own ones.
	Watchers *Watchers
	Log      *slog.Logger
}

// The bounds of a dispatcher.
const (
	queue     = 1024            // pending requests; more block their callers
	together  = 512             // commands of one turn, unless one request has more
	waitWrite = time.Minute     // longest wait for a call with writes, plus
	waitPoint = time.Second     // for each of its points
	waitStop  = 5 * time.Second // for writes in progress when the dispatcher stops
)

// Dispatcher decides and carries out. Its methods are safe for concurrent use; requests wait until Run runs.
type Dispatcher struct {
	reader
	*reviews
	cfg      Config
	requests *requests
	watchers *Watchers
	values   *lastvalue.Cache
	loop     *loop
	damage   error // what was wrong with the stored state
}

// Open returns a dispatcher with the stored state. It writes nothing to devices before Run. A damaged state
// is set aside, which Trouble and the audit log report. Errors are those of the journal, and Invalid for
// points.
func Open(ctx context.Context, cfg Config) (*Dispatcher, error) {
	if cfg.Clock == nil {
		begin := time.Now()
		cfg.Clock = func() control.Instant { return control.Instant{Wall: time.Now(), Steady: time.Since(begin)} }
	}
	if cfg.Absence <= 0 {
		cfg.Absence = time.Minute
	}
	changed := newReviews()
	d := &Dispatcher{
		cfg: cfg, requests: newRequests(), watchers: cmp.Or(cfg.Watchers, &Watchers{}), reviews: changed,
		values: lastvalue.New(changed.nudge),
	}
	d.loop = newLoop(d)
	d.reader = reader{requests: d.requests, loop: d.loop}
	state, err := cfg.Journal.Load(ctx)
	if err == nil {
		err = d.loop.restore(state)
	}
	if fault.Is(err, fault.Corrupt) {
		file, failed := cfg.Journal.SetAside(ctx)
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		d.damage = fmt.Errorf("the state of control was damaged (%w) and is now %s: nobody holds a point, and devices keep what they were set to; look at the points and command them anew", err, file)
		err = d.loop.restore(control.State{Version: control.Version})
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Run decides requests and carries them out until ctx ends. Then it briefly waits for writes in progress,
// records their outcomes, and returns nil. Commands remain in force: they continue when the node runs again.
func (d *Dispatcher) Run(ctx context.Context) error { return d.loop.run(ctx, d.damage) }

// Trouble returns why nothing can be stored now, or what was damaged in the state; nil if all is well.
func (d *Dispatcher) Trouble() error {
	if err := d.loop.keeper.why(); err != nil {
		return err
	}
	return d.damage
}

// MismatchedPoints returns the points that do not have their commanded values, by path, as far as devices report.
// Callers must not modify the list. It does not wait.
func (d *Dispatcher) MismatchedPoints() []control.MismatchedPoint {
	if list := d.loop.amiss.Load(); list != nil {
		return *list
	}
	return nil
}

// Proposed returns the commands pending approval, oldest first. Callers must not modify the list. It does not wait.
func (d *Dispatcher) Proposed() []control.Slot {
	if list := d.loop.proposed.Load(); list != nil {
		return *list
	}
	return nil
}

// Watch returns a watcher that receives events from now on; turns that exceed the buffer are dropped,
// and counted. Close it after use.
func (d *Dispatcher) Watch(buffer int) *Watcher { return d.watchers.Add(max(buffer, 1)) }

// Hear receives a scan of a device, whatever caused it. It may be called concurrently, and does not wait. The
// caller keeps ownership of the scan.
func (d *Dispatcher) Hear(scan *point.Scan) { d.values.Hear(scan) }
