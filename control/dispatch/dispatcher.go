package dispatch

import (
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
	// Load returns what was kept; without records for nothing.
	Load(ctx context.Context) (control.State, error)
	// Keep stores records over those of the same kind and key, all or none. They are on disk when it
	// returns.
	Keep(ctx context.Context, records []control.Record) error
	// SetAside begins anew, and returns where the old state is now.
	SetAside(ctx context.Context) (file string, err error)
}

// Audit keeps who did what, as package audit does.
type Audit interface {
	Append(ctx context.Context, entries ...audit.Entry) error
}

// Point is a point as the dispatcher knows it.
type Point struct {
	control.Spec
	// Heartbeat toggles the point so often, so that its device falls back by itself when the node is
	// gone; 0 for an ordinary point. Nobody commands such a point.
	Heartbeat time.Duration
}

// Config is what a dispatcher needs. Devices, Journal, Audit and Log must be there.
type Config struct {
	Points  []Point
	Limits  control.Limits
	Devices Devices
	Journal Journal
	Audit   Audit
	// Online returns a function that reports for the present moment whether a requester is connected: an agent on the bus, a caller of
	// another node while that is reached. People of this node always are. nil if nobody knows, and then
	// none counts as gone.
	Online func() func(requester string) bool
	// Absence is how long a requester may be gone before everything of it ends; 0 is 1 min.
	Absence time.Duration
	// Record keeps what points are commanded, as samples of points below Prefix, and lists those that it
	// is seen for the first time. It may take its time. May be nil.
	Record func(ctx context.Context, fresh []point.Info, samples []point.Sample) error
	// MismatchedPoint is called with the points whose value is not the commanded one, whenever they or their states change; may be nil
	// is. It returns at once, and does not change the list.
	Mismatches func([]control.MismatchedPoint)
	// Clock is the time; nil for that of the machine.
	Clock func() control.Instant
	Log   *slog.Logger
}

// The bounds of a dispatcher.
const (
	queue     = 1024            // requests that wait; more block their callers
	together  = 512             // commands of one turn, unless one request has more
	waitWrite = time.Minute     // for a call of writes, and
	waitPoint = time.Second     // more for each of its points
	waitStop  = 5 * time.Second // for writes that are under way when the dispatcher stops
)

// Dispatcher decides and carries out. Its methods are safe for concurrent use; requests wait until Run runs.
type Dispatcher struct {
	reader
	*reviews
	cfg      Config
	requests *requests
	watchers *watchers
	values   *lastvalue.Cache
	loop     *loop
	damage   error // what was wrong with the state when it was opened
}

// Open makes a dispatcher with the state that was kept. It writes nothing to devices before Run. A state that
// is damaged is set aside, which Trouble and the audit log say. Errors are those of the journal, and
// Invalid for points.
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
		cfg: cfg, requests: newRequests(), watchers: &watchers{}, reviews: changed,
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

// Run decides requests and carries them out until ctx ends. Then it lets writes that are under way end
// for a moment, notes their outcomes, and returns nil. What is commanded stays commanded: it goes on when
// the node runs again.
func (d *Dispatcher) Run(ctx context.Context) error { return d.loop.run(ctx, d.damage) }

// Trouble says why nothing can be kept now, or what of the state was damaged; nil if all is well.
func (d *Dispatcher) Trouble() error {
	if err := d.loop.keeper.why(); err != nil {
		return err
	}
	return d.damage
}

// MismatchedPoints returns the points that do not have what they should have, by path, as far as devices say. Nobody
// changes the list. It does not wait.
func (d *Dispatcher) MismatchedPoints() []control.MismatchedPoint {
	if list := d.loop.amiss.Load(); list != nil {
		return *list
	}
	return nil
}

// Proposed returns the commands that wait for approval, the oldest first. Nobody changes the list. It does not wait.
func (d *Dispatcher) Proposed() []control.Slot {
	if list := d.loop.proposed.Load(); list != nil {
		return *list
	}
	return nil
}

// Watch returns a watcher that receives events from now on; turns that exceed the buffer are dropped,
// and counted. Close it after use.
func (d *Dispatcher) Watch(buffer int) *Watcher { return d.watchers.add(max(buffer, 1)) }

// Hear receives a scan of a device, whoever asked for it. It may be called by many goroutines at once, and
// does not wait. The scan stays the caller's.
func (d *Dispatcher) Hear(scan *point.Scan) { d.values.Hear(scan) }
