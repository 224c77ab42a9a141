package dispatch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/model"
	"voltbus/device"
	"voltbus/fault"
	"voltbus/point"
)

// Fleet reads and writes devices, as package device does.
type Fleet interface {
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

// Config is what a dispatcher needs. Fleet, Journal, Audit and Log must be there.
type Config struct {
	Points  []Point
	Limits  control.Limits
	Fleet   Fleet
	Journal Journal
	Audit   Audit
	// Online returns what tells for a moment whether a requester is there: an agent on the bus, somebody of
	// another node while that is reached. People of this node always are. nil if nobody knows, and then
	// none counts as gone.
	Online func() func(requester string) bool
	// Absence is how long a requester may be gone before everything of it ends; 0 is 1 min.
	Absence time.Duration
	// Record keeps what points are commanded, as samples of points below Prefix, and lists those that it
	// is told of for the first time. It may take its time. nil: nobody does.
	Record func(ctx context.Context, fresh []point.Info, samples []point.Sample) error
	// Amiss is told of the points that do not have what they should have, whenever they or their states change; nil: nobody
	// is. It returns at once, and does not change the list.
	Amiss func([]control.Amiss)
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
	retryKeep = time.Second     // before a disk that failed is tried again
	maxUntold = 10_000          // entries that wait for an audit log that failed

	tellSoon   = 50 * time.Millisecond // until the audit log has outcomes, and
	maxWaiting = 4096                  // at most so many wait for that
)

// Dispatcher decides and carries out. Its methods are safe for concurrent use; requests wait until Run runs.
type Dispatcher struct {
	cfg        Config
	model      *model.Model
	jobs       chan *job
	answers    answers
	ended      chan struct{} // closed when Run does not take requests any more
	watchers   watchers
	lastValues lastValues
	recorder   recorder
	kick       chan struct{} // the rights of somebody changed, or a point that is commanded or that others depend on
	amiss      atomic.Pointer[[]control.Amiss]
	proposed   atomic.Pointer[[]control.Slot]

	// What follows is of the goroutine of Run.
	points   map[point.Path]Point
	sorted   []point.Path // their paths
	waiters  map[point.Path][]waiter
	inFlight int // writes
	writes   sync.WaitGroup
	unsaved  map[[2]string]control.Record // what could not be kept
	untold   []audit.Entry                // what could not be written into the audit log
	waiting  []audit.Entry                // outcomes that the audit log gets soon
	keepBy   time.Duration                // when outcomes are kept that could wait, on the steady clock; 0: none
	tellBy   time.Duration                // when the audit log gets them; 0: none
	begun    turn                         // what follows from the state that Open found
	absent   absent
	beats    beats
	wrongs   uint64 // the changes of what is amiss that are in amiss

	mu      sync.Mutex
	reviews map[string]*Rights // requesters whose rights changed; nil: they have none
	judges  []Judge            // of those whose rights may have changed
	trouble error              // why nothing can be kept
	damage  error              // what was wrong with the state when it was opened
}

var errEnded = errors.New("the node is stopping; ask again when it runs")

// Open makes a dispatcher with the state that was kept. It writes nothing to devices before Run. A state that
// is damaged is set aside, which Trouble and the audit log say. Errors are those of the journal, and
// Invalid for points.
func Open(ctx context.Context, cfg Config) (*Dispatcher, error) {
	if cfg.Clock == nil {
		begin := time.Now()
		cfg.Clock = func() control.Instant { return control.Instant{Wall: time.Now(), Steady: time.Since(begin)} }
	}
	d := &Dispatcher{
		cfg: cfg, jobs: make(chan *job, queue), answers: newAnswers(), ended: make(chan struct{}), wrongs: math.MaxUint64,
		kick: make(chan struct{}, 1), reviews: make(map[string]*Rights), waiters: make(map[point.Path][]waiter), unsaved: make(map[[2]string]control.Record),
	}
	d.lastValues.news = d.nudge
	d.recorder = newRecorder(cfg.Record, cfg.Log)
	if d.cfg.Absence <= 0 {
		d.cfg.Absence = time.Minute
	}
	state, err := cfg.Journal.Load(ctx)
	if err == nil {
		err = d.begin(state)
	}
	if fault.Is(err, fault.Corrupt) {
		file, failed := cfg.Journal.SetAside(ctx)
		if failed != nil {
			return nil, errors.Join(err, failed)
		}
		d.damage = fmt.Errorf("the state of control was damaged (%w) and is now %s: nobody holds a point, and devices keep what they were set to; look at the points and command them anew", err, file)
		err = d.begin(control.State{Version: control.Version})
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// begin takes a state over.
func (d *Dispatcher) begin(state control.State) error {
	d.model, d.begun = model.New(d.cfg.Limits), turn{now: d.cfg.Clock()}
	d.points = make(map[point.Path]Point, len(d.cfg.Points))
	effects, err := d.declare(d.begun.now, d.cfg.Points)
	if err != nil {
		return err
	}
	d.begun.add(node, effects, 0)
	if len(state.Records) == 0 {
		return nil
	}
	effects, err = d.model.Import(d.begun.now, state)
	d.begun.add(node, effects, 0)
	return err
}

// declare makes points exactly those that the model knows.
func (d *Dispatcher) declare(now control.Instant, points []Point) (control.Effects, error) {
	specs := make([]control.Spec, len(points))
	known := make(map[point.Path]Point, len(points))
	for i := range points {
		specs[i] = points[i].Spec
		known[specs[i].Point] = points[i]
	}
	effects, err := d.model.Declare(now, specs)
	if err != nil {
		return effects, err
	}
	var gone []point.Path
	for path := range d.points {
		if _, stays := known[path]; !stays {
			gone = append(gone, path)
		}
	}
	d.points, d.sorted = known, slices.Sorted(maps.Keys(known))
	d.lastValues.watch(points)
	d.beats.declare(now, points)
	more := d.model.Remove(now, gone)
	effects.Writes, effects.Events = append(effects.Writes, more.Writes...), append(effects.Events, more.Events...)
	return effects, nil
}

// Trouble says why nothing can be kept now, or what of the state was damaged; nil if all is well.
func (d *Dispatcher) Trouble() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.trouble != nil {
		return d.trouble
	}
	return d.damage
}

// Amiss returns the points that do not have what they should have, by path, as far as devices say. Nobody
// changes the list. It does not wait.
func (d *Dispatcher) Amiss() []control.Amiss {
	if list := d.amiss.Load(); list != nil {
		return *list
	}
	return nil
}

// Proposed returns the commands that wait for approval, the oldest first. Nobody changes the list. It does not wait.
func (d *Dispatcher) Proposed() []control.Slot {
	if list := d.proposed.Load(); list != nil {
		return *list
	}
	return nil
}

// look over what a turn has changed: which readings matter from now on, and what is amiss.
func (d *Dispatcher) survey(t *turn) {
	asked := d.proposed.Load() == nil
	for i := range t.events {
		e := &t.events[i]
		d.lastValues.follow(e.Path, d.model.Follows(e.Path))
		asked = asked || e.Kind == control.ApprovalAsked || e.Kind == control.ApprovalEnded
	}
	if asked {
		list := d.model.Waiting()
		d.proposed.Store(&list)
	}
	for i := range t.writes {
		d.lastValues.follow(t.writes[i].Point, true)
	}
	changes := d.model.AmissChanges()
	if changes == d.wrongs {
		return
	}
	d.wrongs = changes
	before, list := d.Amiss(), d.model.Amiss()
	d.amiss.Store(&list)
	same := slices.EqualFunc(before, list, func(a, b control.Amiss) bool { return a.Point == b.Point && a.Output == b.Output })
	if d.cfg.Amiss != nil && !same {
		d.cfg.Amiss(list)
	}
}

// Run decides requests and carries them out until ctx ends. Then it lets writes that are under way end
// for a moment, notes their outcomes, and returns nil. What is commanded stays commanded: it goes on when
// the node runs again.
func (d *Dispatcher) Run(ctx context.Context) error {
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer d.recorder.close()
	beside.Go(func() { d.recorder.run(writing) })
	d.open(writing)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		t := turn{}
		select {
		case <-ctx.Done():
			continue
		case j := <-d.jobs:
			d.gather(&t, j)
		case <-d.answers.some:
			d.hear(&t)
		case <-timer.C:
			d.enter(&t)
			d.lookAround(&t)
			d.beat(writing, t.now)
		case <-d.kick:
			d.enter(&t)
			d.reviewAll(&t)
		case b := <-d.beats.heard:
			d.enter(&t)
			d.beaten(&t, b)
		}
		d.finish(writing, &t)
		timer.Reset(d.next())
	}
	d.wind(writing, cancel)
	return nil
}

// open carries out what follows from the state that was kept.
func (d *Dispatcher) open(writing context.Context) {
	if d.damage != nil {
		d.begun.entries = append(d.begun.entries, audit.Entry{
			Actor: node, Action: "control.damaged", Outcome: d.damage.Error(),
		})
		d.cfg.Log.ErrorContext(writing, "state of control is damaged", slog.Any("err", d.damage))
	}
	d.beats.heard = make(chan beaten)
	for _, path := range d.model.Commanded() {
		d.lastValues.follow(path, true)
	}
	d.recorder.begin(d, &d.begun)
	d.finish(writing, &d.begun)
	d.begun = turn{}
}

// enter begins a turn with what is due.
func (d *Dispatcher) enter(t *turn) {
	t.now = d.cfg.Clock()
	t.add(node, d.model.Advance(t.now), 0)
	for path, v := range d.lastValues.take() {
		t.add(node, d.model.Observe(t.now, path, v), 0)
	}
}

// next returns how long nothing is foreseen.
func (d *Dispatcher) next() time.Duration {
	const longest = time.Minute
	now := d.cfg.Clock()
	wait, ok := d.model.Next(now)
	if !ok || wait > longest {
		wait = longest
	}
	if d.keepBy > 0 {
		wait = min(wait, d.keepBy-now.Steady)
	}
	if d.tellBy > 0 {
		wait = min(wait, d.tellBy-now.Steady)
	}
	if len(d.unsaved)+len(d.untold) > 0 {
		wait = min(wait, retryKeep)
	}
	return max(min(wait, d.absent.due(now), d.beats.due(now)), 0)
}

// wind ends what is under way, and refuses what came too late.
func (d *Dispatcher) wind(writing context.Context, cancel context.CancelFunc) {
	close(d.ended)
	d.watchers.close()
	timer := time.NewTimer(waitStop)
	defer timer.Stop()
	for d.inFlight > 0 {
		t := turn{last: true}
		select {
		case <-d.answers.some:
			d.hear(&t)
			d.finish(writing, &t)
		case <-d.beats.heard:
			d.inFlight--
		case <-timer.C:
			cancel()
		}
	}
	d.writes.Wait()
	d.finish(writing, &turn{now: d.cfg.Clock(), last: true}) // outcomes that could wait
	for {
		select {
		case j := <-d.jobs:
			j.answer(fault.E("dispatch.Run", fault.Unavailable, "", errEnded))
		default:
			return
		}
	}
}
