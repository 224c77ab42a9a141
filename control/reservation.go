package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"voltbus/fault"
	"voltbus/point"
)

// Priority says whom a task gives way to.
type Priority string

// The priorities. Only a task of priority High pre-empts others.
const (
	High       Priority = "high"        // gives way to nobody
	Low        Priority = "low"         // gives way until its first window starts
	LowPreempt Priority = "low-preempt" // always gives way; a running window keeps Limits.Grace
)

// Reservation asks for windows, all or none.
type Reservation struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Requester string
	Task      string // its name, unique on the node while it lasts
	Priority  Priority
	Windows   []Window
	Reason    string
}

// task is an accepted Reservation.
type task struct {
	Reservation
	order     uint64
	started   bool // a window has started
	preempted bool
	ending    bool // all its windows are being ended
	windows   []*window
	commands  map[*command]struct{}
}

// Reserve decides a reservation. A conflict is refused with the windows of all tasks that stand in
// the way in Holders, also of the requester's other tasks. Tasks that give way are in Lost. Who asks once
// more for an own task, by the same name, priority and paths, gets its windows as they are asked for now:
// that is what an agent does that has restarted. Its commands under windows that go on stay.
func (m *Model) Reserve(now Instant, r Reservation) Decision {
	m.enterAs(now, r.Requester)
	return m.leave(m.once(ref{r.Requester, r.ID}, r.mark(), func() Decision {
		if d, ok := m.wellFormed(&r); !ok {
			return d
		}
		standing, yielding := m.contest(&r)
		if len(standing) > 0 {
			return conflict(&r, standing)
		}
		return m.enroll(r, yielding)
	}))
}

func (r *Reservation) mark() uint64 {
	texts := []string{r.Task, string(r.Priority), r.Reason}
	for _, w := range r.Windows {
		texts = append(texts, string(w.Path), w.From.UTC().String(), w.Until.UTC().String())
	}
	return fingerprint(texts...)
}

// wellFormed refuses a reservation that is wrong in itself.
func (m *Model) wellFormed(r *Reservation) (Decision, bool) {
	const op = "Reserve"
	no := func(why Why, err error) (Decision, bool) { return refuse(op, why, fault.Invalid, r.Task, err), false }
	for _, name := range []struct{ what, text string }{{"requester", r.Requester}, {"name of the task", r.Task}} {
		if err := m.named(name.what, name.text); err != nil {
			return no(WhyInvalid, err)
		}
	}
	switch {
	case r.Priority != High && r.Priority != Low && r.Priority != LowPreempt:
		return no(WhyPriority, fmt.Errorf("%q is no priority; write high, low or low-preempt", r.Priority))
	case m.tasks[r.Task] != nil && !m.tasks[r.Task].again(r):
		d := refuse(op, WhyTaskExists, fault.Conflict, r.Task, errors.New("a task of this name is there already; choose another name, or cancel it"))
		d.Holders = m.tasks[r.Task].holders()
		return d, false
	case len(r.Reason) > m.limits.Text:
		return no(WhyInvalid, fmt.Errorf("the reason has %d bytes; write at most %d", len(r.Reason), m.limits.Text))
	case len(r.Windows) == 0:
		return no(WhyInvalid, errors.New("it has no windows; write at least one with path, start and end"))
	case m.calendar.count+len(r.Windows) > m.limits.Windows:
		return refuse(op, WhyFull, fault.Unavailable, r.Task, fmt.Errorf("there are %d windows; cancel some first", m.calendar.count)), false
	}
	if why, err := m.badWindows(r); err != nil {
		return no(why, err)
	}
	return Decision{}, true
}

// badWindows reports the first window that is wrong.
func (m *Model) badWindows(r *Reservation) (Why, error) {
	own := newCalendar()
	bearer := &task{Reservation: *r}
	for i := range r.Windows {
		w := &r.Windows[i]
		if err := w.Path.Validate(); err != nil {
			return WhyInvalid, fmt.Errorf("window %d: %w", i+1, err)
		}
		if !w.From.Before(w.Until) {
			return WhyInvalid, fmt.Errorf("window %d of %s ends at %s, before it starts; exchange the times", i+1, w.Path, clockText(w.Until))
		}
		if !m.now.Wall.Before(w.Until) || w.Until.Year() > lastYear || w.From.Year() < firstYear {
			return WhyInvalid, fmt.Errorf("window %d of %s ends at %s, which is over or centuries away; choose another time", i+1, w.Path, clockText(w.Until))
		}
		if found := own.overlapping(m.now.Wall, w); len(found) > 0 {
			return WhySelf, fmt.Errorf("window %d of %s overlaps the one of %s from %s; join them", i+1, w.Path, found[0].Path, clockText(found[0].From))
		}
		own.add(&window{Window: *w, task: bearer})
	}
	return "", nil
}

// The years whose nanoseconds since 1970 fit 64 bits.
const (
	firstYear = 1700
	lastYear  = 2200
)

// contest returns the windows that stand against r, and the tasks that would give way.
func (m *Model) contest(r *Reservation) (standing []*window, yielding []*task) {
	for i := range r.Windows {
		for _, w := range m.calendar.overlapping(m.now.Wall, &r.Windows[i]) {
			switch {
			case w.task == m.tasks[r.Task]: // it is replaced
			case !w.task.givesWayTo(r.Priority):
				if !slices.Contains(standing, w) {
					standing = append(standing, w)
				}
			case !w.task.preempted && !slices.Contains(yielding, w.task):
				yielding = append(yielding, w.task)
			}
		}
	}
	slices.SortFunc(yielding, func(a, b *task) int { return cmp.Compare(a.order, b.order) })
	return standing, yielding
}

func (t *task) givesWayTo(p Priority) bool {
	return p == High && (t.preempted || t.Priority == LowPreempt || t.Priority == Low && !t.started)
}

func conflict(r *Reservation, standing []*window) Decision {
	first := standing[0]
	d := refuse("Reserve", WhyConflict, fault.Conflict, r.Task, fmt.Errorf(
		"%s has reserved %s for the task %q from %s to %s; choose another time",
		first.task.Requester, first.Path, first.task.Task, clockText(first.From), clockText(first.Until)))
	for _, w := range standing {
		d.Holders = append(d.Holders, w.holder())
	}
	return d
}

// enroll makes the task, after those that give way.
func (m *Model) enroll(r Reservation, yielding []*task) Decision {
	d := Decision{Status: Accepted}
	for _, other := range yielding {
		d.Lost = append(d.Lost, Holder{Requester: other.Requester, Task: other.Task, Reason: other.Reason})
		m.preempt(other)
	}
	r.Windows = slices.Clone(r.Windows)
	for _, w := range r.Windows {
		if w.Until.After(d.Until) {
			d.Until = w.Until
		}
	}
	if t := m.tasks[r.Task]; t != nil {
		m.takeUp(t, &r)
		return d
	}
	t := &task{Reservation: r, order: m.nextOrder(), commands: make(map[*command]struct{})}
	m.tasks[t.Task] = t
	m.touch(recordTask, t.Task)
	m.event(Event{Kind: TaskMade, Holder: Holder{Requester: t.Requester, Task: t.Task, Reason: t.Reason}})
	for _, w := range r.Windows {
		m.addWindow(t, w)
	}
	m.startDue(t)
	return d
}

// addWindow gives a task a window that has not started.
func (m *Model) addWindow(t *task, given Window) {
	w := &window{Window: given, task: t}
	t.windows = append(t.windows, w)
	m.calendar.add(w)
	m.wall.set(&w.wall, w, w.From.UnixNano())
}

// startDue starts the windows whose time has come, and ends those whose time is over then.
func (m *Model) startDue(t *task) {
	for _, over := range []bool{false, true} {
		for _, w := range slices.Clone(t.windows) {
			if !w.active && !m.now.Wall.Before(w.From) && over == !m.now.Wall.Before(w.Until) {
				m.wall.stop(&w.wall)
				w.ring(m)
			}
		}
	}
}

// startWindow makes a window active, or waits for the one that is still in its place.
func (m *Model) startWindow(w *window) {
	if other := m.calendar.blocker(w); other != nil {
		until := min(int64(other.ends-m.now.Steady), other.Until.Sub(m.now.Wall).Nanoseconds())
		m.wall.set(&w.wall, w, m.now.Wall.UnixNano()+max(until, 1))
		return
	}
	w.active, w.task.started = true, true
	m.calendar.active[w.Path] = append(m.calendar.active[w.Path], w)
	w.ends = m.now.Steady + w.Until.Sub(m.now.Wall)
	m.wall.set(&w.wall, w, w.Until.UnixNano())
	m.steady.set(&w.steady, w, int64(w.ends))
	m.steady.set(&w.tell, (*announcer)(w), int64(m.now.Steady+m.limits.Announce))
	m.touch(recordTask, w.task.Task)
	m.event(Event{Kind: WindowStarted, Holder: w.holder()})
}

// endWindow ends a window with the commands that were made under it; the last ends its task.
func (m *Model) endWindow(w *window, cause Cause) {
	if w.task.preempted {
		cause = CausePreempted
	}
	m.clearWindow(w, cause)
	if len(w.task.windows) == 0 {
		m.dropTask(w.task, cause)
	}
}

// clearWindow takes a window out of its task and the calendar.
func (m *Model) clearWindow(w *window, cause Cause) {
	m.wall.stop(&w.wall)
	m.steady.stop(&w.steady)
	m.steady.stop(&w.tell)
	m.calendar.remove(w)
	t := w.task
	t.windows = slices.DeleteFunc(t.windows, func(other *window) bool { return other == w })
	m.touch(recordTask, t.Task)
	if w.active {
		m.event(Event{Kind: WindowEnded, Holder: w.holder(), Cause: cause})
	}
	chosen := slices.DeleteFunc(slices.Collect(maps.Keys(t.commands)), func(c *command) bool {
		return !covers(w.Path, c.Point) || t.holds(c.Point)
	})
	slices.SortFunc(chosen, func(a, b *command) int { return cmp.Compare(a.order, b.order) })
	m.endAll(chosen, CauseTask)
	if w.active {
		m.startNext(w.Path)
	}
}

// startNext starts the windows that waited for one at a path, which has just ended.
func (m *Model) startNext(path point.Path) {
	now := Window{Path: path, From: m.now.Wall, Until: m.now.Wall.Add(1)}
	waiting := slices.DeleteFunc(m.calendar.overlapping(m.now.Wall, &now), func(w *window) bool { return w.active || w.task.ending })
	slices.SortStableFunc(waiting, func(a, b *window) int { return cmp.Compare(a.task.order, b.task.order) })
	for _, w := range waiting {
		if !w.active {
			m.wall.stop(&w.wall)
			m.startWindow(w)
		}
	}
}

// holds reports whether an active window covers a point.
func (t *task) holds(p point.Path) bool {
	return slices.ContainsFunc(t.windows, func(w *window) bool { return w.active && covers(w.Path, p) })
}

// dropTask forgets a task without windows.
func (m *Model) dropTask(t *task, cause Cause) {
	delete(m.tasks, t.Task)
	m.touch(recordTask, t.Task)
	m.event(Event{Kind: TaskEnded, Holder: Holder{Requester: t.Requester, Task: t.Task, Reason: t.Reason}, Cause: cause})
}

// endTask ends a task with all its windows.
func (m *Model) endTask(t *task, cause Cause) {
	t.ending = true
	for _, w := range slices.Clone(t.windows) {
		m.clearWindow(w, cause)
	}
	m.dropTask(t, cause)
}

// preempt ends a task; what runs of it keeps the grace.
func (m *Model) preempt(t *task) {
	t.preempted = true
	m.touch(recordTask, t.Task)
	m.event(Event{Kind: TaskEnded, Holder: Holder{Requester: t.Requester, Task: t.Task, Reason: t.Reason}, Cause: CausePreempted})
	for _, w := range slices.Clone(t.windows) {
		if !w.active {
			m.clearWindow(w, CausePreempted)
			continue
		}
		if until := m.now.Wall.Add(m.limits.Grace); until.Before(w.Until) {
			w.Until = until.UTC()
			m.wall.set(&w.wall, w, w.Until.UnixNano())
		}
		if ends := m.now.Steady + m.limits.Grace; ends < w.ends {
			w.ends = ends
			m.steady.set(&w.steady, w, int64(ends))
		}
	}
	if len(t.windows) == 0 {
		delete(m.tasks, t.Task)
	}
}

// Cancel ends a task of the requester with all its windows, and the commands that were made under it;
// by is who does it, if it is somebody else.
func (m *Model) Cancel(now Instant, requester, name, by string) Decision {
	const op = "Cancel"
	m.enterAs(now, cmp.Or(by, requester))
	t := m.tasks[name]
	switch {
	case t == nil:
		return m.leave(refuse(op, WhyUnknown, fault.NotFound, name, errors.New("there is no such task; it may be over")))
	case t.Requester != requester:
		d := refuse(op, WhyNotYours, fault.Refused, name, errNotYours)
		d.Holders = t.holders()
		return m.leave(d)
	}
	m.endTask(t, CauseCanceled)
	return m.leave(Decision{Status: Accepted})
}

// holders describes the windows of a task.
func (t *task) holders() []Holder {
	var holders []Holder
	for _, w := range t.windows {
		holders = append(holders, w.holder())
	}
	return holders
}

// sortedTasks returns the tasks in the order of their making.
func (m *Model) sortedTasks() []*task {
	return slices.SortedFunc(maps.Values(m.tasks), func(a, b *task) int { return cmp.Compare(a.order, b.order) })
}
