package dispatch

import (
	"context"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/control/lastvalue"
	"voltbus/control/model"
	"voltbus/fault"
	"voltbus/point"
)

// loop is the goroutine of Run, and the state that it alone owns.
type loop struct {
	cfg        Config
	requests   *requests
	reviews    *reviews
	watchers   *Watchers
	values     *lastvalue.Cache
	model      *model.Model
	points     directory
	waiters    waiters
	outbox     outbox
	keeper     keeper
	recorder   recorder
	absence    absence
	heartbeats heartbeats
	begun      turn   // the effects of the state that Open found
	changes    uint64 // the number of changes reflected in amiss

	amiss    atomic.Pointer[[]control.MismatchedPoint]
	proposed atomic.Pointer[[]control.Slot]
}

func newLoop(d *Dispatcher) *loop {
	l := &loop{
		cfg: d.cfg, requests: d.requests, reviews: d.reviews, watchers: d.watchers, values: d.values,
		waiters: waiters{make(map[point.Path][]waiter)}, recorder: newRecorder(d.cfg.Record, d.cfg.Log),
		keeper: newKeeper(&d.cfg), changes: math.MaxUint64,
	}
	l.outbox = newOutbox(d.cfg.Devices, &l.points)
	l.heartbeats = heartbeats{outbox: &l.outbox, log: d.cfg.Log}
	return l
}

// restore loads a state.
func (l *loop) restore(state control.State) error {
	l.model, l.begun = model.New(l.cfg.Limits), turn{now: l.cfg.Clock()}
	l.points = directory{points: make(map[point.Path]Point, len(l.cfg.Points))}
	effects, err := l.declare(l.begun.now, l.cfg.Points)
	if err != nil {
		return err
	}
	l.begun.add(node, effects, 0)
	if len(state.Records) == 0 {
		return nil
	}
	effects, err = l.model.Import(l.begun.now, state)
	l.begun.add(node, effects, 0)
	return err
}

// declare sets exactly the points that the model knows.
func (l *loop) declare(now control.Instant, points []Point) (control.Effects, error) {
	specs := make([]control.Spec, len(points))
	known := make(map[point.Path]Point, len(points))
	for i := range points {
		specs[i] = points[i].Spec
		known[specs[i].Point] = points[i]
	}
	effects, err := l.model.Declare(now, specs)
	if err != nil {
		return effects, err
	}
	var gone []point.Path
	for path := range l.points.points {
		if _, stays := known[path]; !stays {
			gone = append(gone, path)
		}
	}
	l.points.points, l.points.sorted = known, slices.Sorted(maps.Keys(known))
	l.values.Watch(specs)
	l.heartbeats.declare(now, points)
	more := l.model.Remove(now, gone)
	effects.Writes, effects.Events = append(effects.Writes, more.Writes...), append(effects.Events, more.Events...)
	return effects, nil
}

// look examines what a turn has changed: which readings matter from now on, and which points deviate.
func (l *loop) survey(t *turn) {
	asked := l.proposed.Load() == nil
	for i := range t.events {
		e := &t.events[i]
		l.values.Follow(e.Path, l.model.Follows(e.Path))
		asked = asked || e.Kind == control.ApprovalAsked || e.Kind == control.ApprovalEnded
	}
	if asked {
		list := l.model.Waiting()
		l.proposed.Store(&list)
	}
	for i := range t.writes {
		l.values.Follow(t.writes[i].Point, true)
	}
	changes := l.model.MismatchChanges()
	if changes == l.changes {
		return
	}
	l.changes = changes
	var before []control.MismatchedPoint
	if list := l.amiss.Load(); list != nil {
		before = *list
	}
	list := l.model.MismatchedPoints()
	l.amiss.Store(&list)
	same := slices.EqualFunc(before, list, func(a, b control.MismatchedPoint) bool { return a.Point == b.Point && a.Output == b.Output })
	if l.cfg.Mismatches != nil && !same {
		l.cfg.Mismatches(list)
	}
}

// run does the work of Run. damage is what was wrong with the state, nil for nothing.
func (l *loop) run(ctx context.Context, damage error) error {
	writing, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var beside sync.WaitGroup
	defer beside.Wait()
	defer l.recorder.close()
	beside.Go(func() { l.recorder.run(writing) })
	l.open(writing, damage)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		t := turn{}
		select {
		case <-ctx.Done():
			continue
		case j := <-l.requests.jobs:
			l.gather(&t, j)
		case <-l.outbox.answers.some:
			l.hear(&t)
		case <-timer.C:
			l.enter(&t)
			l.lookAround(&t)
			l.heartbeats.write(writing, t.now)
		case <-l.reviews.kick:
			l.enter(&t)
			l.reviewAll(&t)
		case b := <-l.heartbeats.results:
			l.enter(&t)
			l.heartbeats.answered(&t, b)
		}
		l.finish(writing, &t)
		timer.Reset(l.next())
	}
	l.wind(writing, cancel)
	return nil
}

// open carries out the effects of the stored state.
func (l *loop) open(writing context.Context, damage error) {
	if damage != nil {
		l.begun.entries = append(l.begun.entries, audit.Entry{
			Actor: node, Action: "control.damaged", Outcome: damage.Error(),
		})
		l.cfg.Log.ErrorContext(writing, "state of control is damaged", slog.Any("err", damage))
	}
	l.heartbeats.results = make(chan heartbeatResult)
	for _, path := range l.model.Commanded() {
		l.values.Follow(path, true)
	}
	l.recorder.begin(l, &l.begun)
	l.finish(writing, &l.begun)
	l.begun = turn{}
}

// enter begins a turn with what is due.
func (l *loop) enter(t *turn) {
	t.now = l.cfg.Clock()
	t.add(node, l.model.Advance(t.now), 0)
	for path, v := range l.values.Take() {
		t.add(node, l.model.Observe(t.now, path, v), 0)
	}
}

// next returns the time until something is due.
func (l *loop) next() time.Duration {
	const longest = time.Minute
	now := l.cfg.Clock()
	wait, ok := l.model.Next(now)
	if !ok || wait > longest {
		wait = longest
	}
	return max(min(wait, l.keeper.due(now), l.absence.due(now), l.heartbeats.due(now)), 0)
}

// wind finishes what is in progress, and refuses requests that came too late.
func (l *loop) wind(writing context.Context, cancel context.CancelFunc) {
	close(l.requests.ended)
	if l.cfg.Watchers == nil {
		l.watchers.Close()
	}
	timer := time.NewTimer(waitStop)
	defer timer.Stop()
	for l.outbox.inFlight > 0 {
		t := turn{last: true}
		select {
		case <-l.outbox.answers.some:
			l.hear(&t)
			l.finish(writing, &t)
		case <-l.heartbeats.results:
			l.outbox.inFlight--
		case <-timer.C:
			cancel()
		}
	}
	l.outbox.writes.Wait()
	l.finish(writing, &turn{now: l.cfg.Clock(), last: true}) // deferred outcomes
	for {
		select {
		case j := <-l.requests.jobs:
			j.answer(fault.E("dispatch.Run", fault.Unavailable, "", errEnded))
		default:
			return
		}
	}
}

// gather decides a request and those queued after it.
func (l *loop) gather(t *turn, first *job) {
	l.enter(t)
	t.expect(min(len(l.requests.jobs), together) + first.size)
	for j, size := first, 0; ; {
		l.do(t, j)
		if size += j.size; size >= together {
			return
		}
		select {
		case j = <-l.requests.jobs:
		default:
			return
		}
	}
}

// do decides one request.
func (l *loop) do(t *turn, j *job) {
	switch {
	case !j.take():
		return // the caller no longer waits, and nothing was done
	case j.makes && l.keeper.trouble != nil:
		j.answer(l.keeper.trouble)
		return
	}
	j.do(t)
	t.jobs = append(t.jobs, j)
}

// finish stores the decisions, sends the writes, and answers.
func (l *loop) finish(writing context.Context, t *turn) {
	err := l.keeper.keep(t, l.model.Changes) //nolint:contextcheck // what was decided is kept, whoever waits
	l.survey(t)
	l.waiters.follow(t, l.model.View)
	l.watchers.notify(t.events)
	l.recorder.note(l, t)
	for _, j := range t.jobs {
		if j.changes {
			j.answer(err)
		} else {
			j.answer(nil)
		}
	}
	l.outbox.send(writing, t, err)
}

// hear processes the outcomes that have arrived.
func (l *loop) hear(t *turn) {
	l.enter(t)
	t.outcomes = true
	list := l.outbox.answers.take()
	l.outbox.inFlight -= len(list)
	t.expect(len(list))
	for i := range list {
		t.add(node, l.model.Answer(t.now, list[i].point, list[i].outcome), 0)
		t.fresh = append(t.fresh, list[i].point)
		if v, ok := l.values.Get(list[i].point); ok { // a value received since is newer than the answer
			t.add(node, l.model.Observe(t.now, list[i].point, v), 0)
		}
	}
}
