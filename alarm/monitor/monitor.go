// Package monitor keeps the alarms of a node: it looks at the readings of the log with package alarm, keeps states and history on disk, and
// carries out what operators do. The rules are shared documents, with their history, below alarms/.
package monitor

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"voltbus/alarm"
	"voltbus/alarm/escalation"
	"voltbus/alarm/storage"
	"voltbus/catalog"
	"voltbus/document"
	"voltbus/point"
	"voltbus/presence"
	"voltbus/sink"
	"voltbus/store"
	"voltbus/verdict"
	"voltbus/webpush"
)

// Documents keep the rules. See document.Store.
type Documents interface {
	List(ctx context.Context, owner string) ([]document.Document, error)
	Get(ctx context.Context, k document.Key, version int) (document.Document, error)
	Set(ctx context.Context, d document.Document, expect int) (document.Document, error)
	Delete(ctx context.Context, k document.Key, by, note string, expect int) error
}

// Alerts are the alerts of agents and of the node. See presence.AgentHealth.
type Alerts interface {
	List() []presence.Alert
	Watch(tell func(presence.Alert)) (stop func())
}

// Points describe points. See catalog.Points.
type Points interface {
	Entries(ctx context.Context, paths []point.Path) ([]catalog.Entry, error)
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
}

// Readings have the newest readings. See store.Store.
type Readings interface {
	Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error)
}

// Options are what a monitor needs.
type Options struct {
	Dir       string // the data directory
	Node      string // the name of the node
	Blocks    sink.Log
	Documents Documents
	Points    Points
	Readings  Readings // nil for a node without a store: values are known from the next reading on
	Alerts    Alerts
	// Told is called with what happened by itself or by an operator; it must return soon.
	Told func(alarm.Transition)
	// Known and Publish are as in escalation.Options.
	Known   func(ctx context.Context, person string) (bool, error)
	Publish func(topic string, payload []byte) (clients int, there bool)
	Now     func() time.Time
	Log     *slog.Logger
}

// Monitor keeps the alarms of a node. It is safe for concurrent use.
type Monitor struct {
	keeper

	sink *sink.Sink
	wake chan struct{} // rules or alerts have changed

	loading sync.Mutex // rules are read by one goroutine at a time

	// Below the mutex of keeper.

	rules    map[string]*kept // by name
	found    bool             // their points were looked for, and the newest readings of these
	alerts   []presence.Alert
	overflow bool   // alerts were left out of alerts
	target   uint64 // the end of the log when it ran: before it is reached, silence says nothing
	plan     escalation.Plan
	wrong    error // with the document of the plan

	people  *escalation.Escalation
	devices *webpush.Registry
}

// keeper has the alarms in memory and on disk.
type keeper struct {
	o    Options
	file *storage.Storage

	mu      sync.Mutex
	engine  *alarm.Engine
	at      storage.Position
	saved   time.Time      // when the position was written
	unsaved *alarm.Changes // that could not be written
	trouble error          // why
}

// File is the name of the file in the data directory.
const File = storage.File

// every is the longest time between looking at readings; with little load they are looked at within a few hundredths of a second.
const every = 250 * time.Millisecond

// Open opens the alarms of a data directory. Without an earlier position readings are looked at from now on.
func Open(ctx context.Context, o Options) (*Monitor, error) {
	m := &Monitor{keeper: keeper{o: o, unsaved: &alarm.Changes{}}, wake: make(chan struct{}, 1), rules: map[string]*kept{}}
	var err error
	if m.file, err = storage.Open(ctx, o.Dir, o.Now()); err != nil {
		return nil, err
	}
	list, at, err := m.file.Load(ctx)
	if err != nil {
		return m, err
	}
	_, last, err := o.Blocks.Bounds(ctx)
	if err != nil {
		return m, err
	}
	if m.at = at; at.Log == "" {
		m.at = storage.Position{Log: o.Blocks.ID(), Sequence: last}
	}
	m.engine = alarm.New(o.Now().UnixMicro(), m.about, list)
	m.sink = sink.New(sink.Config{Every: every, Skips: m.skips, Log: o.Log}, o.Blocks, target{m})
	if err := openEscalation(ctx, m); err != nil {
		return m, err
	}
	return m, errors.Join(m.load(ctx), m.loadPlan(ctx))
}

// Close closes the file. The monitor does not run.
func (m *Monitor) Close() error {
	if m == nil || m.file == nil {
		return nil
	}
	return m.file.Close()
}

// tick is how often the passing of time is looked at.
const tick = time.Second

// review is how often the catalogue is searched for points that were added.
const review = 10 * time.Minute

// Run looks at readings until ctx ends, and returns nil.
func (m *Monitor) Run(ctx context.Context) error {
	if _, last, err := m.o.Blocks.Bounds(ctx); err == nil {
		m.mu.Lock()
		m.target = last
		m.mu.Unlock()
	}
	defer m.o.Alerts.Watch(m.hear)()
	m.resume(m.o.Alerts.List())
	var group errgroup.Group
	group.Go(func() error { return m.sink.Run(ctx) })
	group.Go(func() error { return m.follow(ctx) })
	group.Go(func() error { return m.people.Run(ctx) })
	err := group.Wait()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commit(context.WithoutCancel(ctx), true)
	return err
}

func (m *Monitor) follow(ctx context.Context) error {
	clock, search := time.NewTicker(tick), time.NewTicker(review)
	defer clock.Stop()
	defer search.Stop()
	seeded := false
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-m.wake:
			m.takeAlerts(ctx)
			if err := errors.Join(m.load(ctx), m.loadPlan(ctx)); err != nil && ctx.Err() == nil {
				m.o.Log.WarnContext(ctx, "the rules of alarms cannot be read", slog.Any("err", err))
			}
		case <-search.C:
			seeded = false
		case <-clock.C:
		}
		if !m.caughtUp() {
			continue
		}
		if !seeded {
			m.seed(ctx)
			seeded = true
		}
		m.tick(ctx)
	}
}

func (m *Monitor) signal() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// caughtUp reports whether the readings from before the start were looked at.
func (m *Monitor) caughtUp() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at.Sequence >= m.target
}

func (m *Monitor) tick(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.engine.Tick(m.now())
	m.commit(ctx, false)
}

func (m *keeper) now() int64 { return m.o.Now().UnixMicro() }

func (m *keeper) about(path point.Path) point.Info {
	entries, err := m.o.Points.Entries(context.Background(), []point.Path{path})
	if err != nil || len(entries) == 0 {
		return point.Info{Path: path}
	}
	return entries[0].Info
}

// skips reports whether an origin concerns no rule: meters, and all without rules.
func (m *Monitor) skips(origin string) bool {
	if point.IsMeterOrigin(origin) {
		return true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.rules) == 0
}

// target gives the readings of the log to the engine.
type target struct{ *Monitor }

// Append implements sink.Store.
func (m target) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	at := m.now()
	for _, b := range blocks {
		m.engine.Observe(at, b)
		m.at = storage.Position{Log: b.Log, Sequence: b.LogSequence}
	}
	if m.at.Sequence >= m.target {
		m.engine.Tick(at)
	}
	m.commit(ctx, false)
	return store.Result{}, nil
}

// Cursor implements sink.Store.
func (m target) Cursor(context.Context) (log string, sequence uint64, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.at.Log, m.at.Sequence, nil
}

// rest is how old the position on disk may be while nothing changes.
const rest = 10 * time.Second

// commit writes what changed. What cannot be written stays in memory, is written later, and Trouble says so. The caller holds mu.
func (m *keeper) commit(ctx context.Context, last bool) {
	c := m.engine.Take()
	for i := range c.Transitions {
		m.o.Told(c.Transitions[i])
	}
	m.gather(&c)
	idle := len(m.unsaved.Transitions)+len(m.unsaved.Kept)+len(m.unsaved.Gone) == 0
	now := m.o.Now()
	if idle && !last && now.Sub(m.saved) < rest {
		return
	}
	if m.trouble = m.file.Save(context.WithoutCancel(ctx), m.unsaved, m.at); m.trouble == nil {
		m.unsaved, m.saved = &alarm.Changes{}, now
	}
}

// mostUnsaved bounds the transitions that wait for a disk with room.
const mostUnsaved = 100_000

// gather adds what changed to what is not written yet.
func (m *keeper) gather(c *alarm.Changes) {
	m.unsaved.Merge(c)
	if more := len(m.unsaved.Transitions) - mostUnsaved; more > 0 {
		m.unsaved.Transitions = m.unsaved.Transitions[more:]
	}
}

// Facts returns what says which alarms are not normal, and what is wrong with looking for them and with telling people. nil for a node
// without alarms.
func (m *Monitor) Facts() func() verdict.Alarming {
	if m == nil {
		return nil
	}
	return func() verdict.Alarming {
		f := verdict.Alarming{Alarms: m.facts(), Unheard: m.unheard()}
		if err := m.Trouble(); err != nil {
			f.Unkept = err.Error()
		}
		for _, d := range m.doubts() {
			f.Doubts = append(f.Doubts, verdict.Doubt{Rule: d.Rule, Why: d.Why, More: d.More})
		}
		return f
	}
}

func (m *keeper) facts() (out []verdict.Alarm) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, a := range m.engine.List() {
		if a.Idle() {
			continue
		}
		where := string(a.Point)
		agent, key, is := a.ID.Source()
		if is {
			where = ""
		} else {
			agent, key = "", ""
		}
		out = append(out, verdict.Alarm{
			Point: where, ID: string(a.ID), Text: a.Text, Priority: string(a.Priority), Since: a.Since,
			Kept: !a.Open(), Over: !a.Active, Agent: agent, Key: key,
		})
	}
	return out
}

// Trouble is why alarms are not kept or readings are not looked at; nil in normal operation.
func (m *Monitor) Trouble() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.trouble != nil {
		return m.trouble
	}
	return m.sink.Stats().Err
}
