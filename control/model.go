package control

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Limits bounds a Model. A zero field has the default that is named.
type Limits struct {
	Emergency  Level         // levels up to it pass reservations and rates; 2
	Protection Level         // levels up to it pass minimum on and off times (ASHRAE 135, clause 19.2.3); 5
	Grace      time.Duration // what is left to a running task that is pre-empted; 1 min
	Announce   time.Duration // between announcements of an active window; 1 min
	Patience   time.Duration // how long a command waits for approval; 1 h
	RetryFirst time.Duration // pause before a failed write is tried again; it doubles; 1 s
	RetryMost  time.Duration // up to this; 1 min

	Answers   int // decisions that are remembered for repeats; 100,000
	Proposals int // commands that wait for approval; 1,000
	Windows   int // of all reservations; 100,000
	Overrides int // 1,000
	Text      int // bytes of an identifier, a name or a reason; 1,000
}

func (l Limits) withDefaults() Limits {
	orElse := func(field *time.Duration, value time.Duration) {
		if *field <= 0 {
			*field = value
		}
	}
	orCount := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	if l.Emergency == 0 {
		l.Emergency = 2
	}
	if l.Protection == 0 {
		l.Protection = 5
	}
	orElse(&l.Grace, time.Minute)
	orElse(&l.Announce, time.Minute)
	orElse(&l.Patience, time.Hour)
	orElse(&l.RetryFirst, time.Second)
	orElse(&l.RetryMost, time.Minute)
	orCount(&l.Answers, 100_000)
	orCount(&l.Proposals, 1000)
	orCount(&l.Windows, 100_000)
	orCount(&l.Overrides, 1000)
	orCount(&l.Text, 1000)
	return l
}

// ref names a request: identifiers are unique for each requester.
type ref struct{ requester, id string }

// Model is the state of control of one node. It is used by one goroutine at a time.
type Model struct {
	limits    Limits
	now       Instant
	targets   map[point.Path]*target
	commands  map[ref]*command
	mine      map[string]map[*command]struct{} // by requester
	proposals map[ref]*proposal
	tasks     map[string]*task
	calendar  calendar
	overrides map[point.Pattern]*override
	guards    map[point.Path][]*target   // the points that an interlock binds to the key
	others    map[point.Path]point.Value // last values of those keys
	answers   answers
	steady    alarms
	wall      alarms
	amiss     map[point.Path]Amiss
	amissed   uint64 // changes of amiss
	order     uint64 // of commands, tasks and overrides
	lastWrite uint64
	out       Effects
	by        string // who causes what happens now; "" for nobody
	changed   map[recordKey]struct{}
}

// New returns a model without points.
func New(limits Limits) *Model {
	limits = limits.withDefaults()
	return &Model{
		limits: limits, targets: make(map[point.Path]*target),
		commands: make(map[ref]*command), mine: make(map[string]map[*command]struct{}),
		proposals: make(map[ref]*proposal), tasks: make(map[string]*task), calendar: newCalendar(),
		overrides: make(map[point.Pattern]*override),
		guards:    make(map[point.Path][]*target), others: make(map[point.Path]point.Value),
		amiss:   make(map[point.Path]Amiss),
		answers: newAnswers(limits.Answers), changed: make(map[recordKey]struct{}),
	}
}

// enter takes the time over, and does what is due.
func (m *Model) enter(now Instant) {
	now.Steady = max(now.Steady, m.now.Steady)
	m.now = now
	for {
		a := m.steady.due(int64(now.Steady))
		if a == nil {
			a = m.wall.due(now.Wall.UnixNano())
		}
		if a == nil {
			return
		}
		a.owner.ring(m)
	}
}

// enterAs is enter for what somebody does.
func (m *Model) enterAs(now Instant, by string) {
	m.enter(now)
	m.by = by
}

// take hands over the effects.
func (m *Model) take() Effects {
	out := m.out
	m.out, m.by = Effects{}, ""
	return out
}

// leave hands over the effects with a decision.
func (m *Model) leave(d Decision) Decision {
	d.Effects = m.take()
	return d
}

// Advance does what is due: leases, windows and overrides end, writes that were held back follow.
func (m *Model) Advance(now Instant) Effects {
	m.enter(now)
	return m.take()
}

// glance bounds a wait for the wall clock, which may jump meanwhile.
const glance = 10 * time.Second

// Next returns how long after now Advance has something to do; false if nothing is foreseen.
func (m *Model) Next(now Instant) (wait time.Duration, ok bool) {
	if len(m.steady.list) > 0 {
		wait, ok = time.Duration(m.steady.list[0].at)-now.Steady, true
	}
	if len(m.wall.list) > 0 {
		until := min(time.Duration(m.wall.list[0].at-now.Wall.UnixNano()), glance)
		if !ok || until < wait {
			wait, ok = until, true
		}
	}
	return max(wait, 0), ok
}

// Declare makes points known, or replaces what is known of them. Commands that do not fit any more
// end. If a spec has problems, nothing changes, and the Invalid error names all of them.
func (m *Model) Declare(now Instant, specs []Spec) (Effects, error) {
	var problems []error
	for i := range specs {
		for _, problem := range specs[i].Validate() {
			problems = append(problems, fmt.Errorf("%s: %w", specs[i].Point, problem))
		}
	}
	if len(problems) > 0 {
		return Effects{}, fault.E("control.Declare", fault.Invalid, "", errors.Join(problems...))
	}
	m.enter(now)
	for i := range specs {
		m.declare(&specs[i])
	}
	return m.take(), nil
}

func (m *Model) declare(given *Spec) {
	spec := *given
	t := m.targets[spec.Point]
	if t == nil {
		t = &target{spec: &spec}
		m.targets[spec.Point] = t
		for _, o := range m.overrides {
			if o.Pattern.Match(spec.Point) {
				t.frozen++
			}
		}
		m.guard(t)
		return
	}
	m.unguard(t)
	t.spec = &spec
	m.guard(t)
	if t.work == nil {
		return
	}
	for _, c := range slices.Clone(t.work.commands) {
		if !spec.Writable || fits(&spec, c.Value) != nil || m.unlocked(t, c.Value) != nil {
			m.end(c, CauseRemoved)
		}
	}
	m.settle(t, CauseRetry)
}

// Remove forgets points. Their commands end, without a write: there is nothing to write to.
func (m *Model) Remove(now Instant, paths []point.Path) Effects {
	m.enter(now)
	for _, path := range paths {
		t := m.targets[path]
		if t == nil {
			continue
		}
		if t.work != nil {
			for _, c := range slices.Clone(t.work.commands) {
				m.end(c, CauseRemoved)
			}
			m.steady.stop(&t.work.alarm)
			m.steady.stop(&t.work.say)
		}
		m.unguard(t)
		delete(m.targets, path)
		if _, was := m.amiss[path]; was {
			delete(m.amiss, path)
			m.amissed++
		}
		m.touch(recordPoint, string(path))
	}
	return m.take()
}

// guard notes which points t depends on.
func (m *Model) guard(t *target) {
	for _, lock := range t.spec.policy().Interlocks {
		m.guards[lock.Other] = append(m.guards[lock.Other], t)
	}
}

func (m *Model) unguard(t *target) {
	for _, lock := range t.spec.policy().Interlocks {
		rest := slices.DeleteFunc(m.guards[lock.Other], func(other *target) bool { return other == t })
		if m.guards[lock.Other] = rest; len(rest) == 0 {
			delete(m.guards, lock.Other)
			delete(m.others, lock.Other)
		}
	}
}

// Observe tells the model what was read from a point, whoever caused it; the zero Value says that it
// could not be read. A reading that another one follows unchanged need not be told again. It is what
// RevertBefore goes back to; what the value that a point was set to is compared with; and what
// interlocks look at: an unknown value refuses new commands, and a value outside of what is needed ends
// those that are there.
func (m *Model) Observe(now Instant, path point.Path, v point.Value) Effects {
	m.enter(now)
	if t := m.targets[path]; t != nil {
		m.see(t, v)
	}
	guarded := m.guards[path]
	if len(guarded) == 0 {
		return m.take()
	}
	m.others[path] = v
	if v.Kind() != point.None {
		for _, t := range guarded {
			m.trip(t)
		}
	}
	return m.take()
}

// trip ends the commands of a point that its interlocks do not allow any more.
func (m *Model) trip(t *target) {
	if t.work == nil {
		return
	}
	tripped := false
	for _, c := range slices.Clone(t.work.commands) {
		if m.unlocked(t, c.Value) != nil {
			m.end(c, CauseInterlock)
			tripped = true
		}
	}
	if tripped {
		m.settle(t, CauseInterlock)
	}
}

// unlocked reports which interlock forbids a value now.
func (m *Model) unlocked(t *target, v point.Value) error {
	number, _ := v.Number()
	for _, lock := range t.spec.policy().Interlocks {
		if !lock.Guards.contains(number) {
			continue
		}
		other, known := m.others[lock.Other]
		value, numeric := other.Number()
		switch {
		case !known || !numeric:
			return fmt.Errorf("its interlock needs %s %v, and that is not known; see why it cannot be read", lock.Other, lock.Needs)
		case !lock.Needs.contains(value):
			return fmt.Errorf("its interlock needs %s %v, and that is %v", lock.Other, lock.Needs, other)
		}
	}
	return nil
}

// event notes what happened, and who caused it.
func (m *Model) event(e Event) {
	if m.by != e.Requester {
		e.By = m.by
	}
	m.out.Events = append(m.out.Events, e)
}

// nextOrder numbers what must stand in the order of its making.
func (m *Model) nextOrder() uint64 {
	m.order++
	m.touch(recordMeta, "")
	return m.order
}

// named reports a name that is missing or too long.
func (m *Model) named(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("the %s is missing; write one", what)
	case len(name) > m.limits.Text:
		return fmt.Errorf("the %s has %d bytes; write at most %d", what, len(name), m.limits.Text)
	}
	return nil
}
