package control

import (
	"slices"

	"voltbus/point"
)

// again reports whether a reservation asks once more for a task that its requester has.
func (t *task) again(r *Reservation) bool {
	return t.Requester == r.Requester && t.Priority == r.Priority && !t.preempted && slices.Equal(pathsOf(t.Windows), pathsOf(r.Windows))
}

// pathsOf returns the paths of windows, each once, sorted.
func pathsOf(windows []Window) []point.Path {
	paths := make([]point.Path, len(windows))
	for i := range windows {
		paths[i] = windows[i].Path
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// takeUp gives a task the windows that its requester asks for now. Those that are active and asked for
// again go on.
func (m *Model) takeUp(t *task, r *Reservation) {
	t.Reservation = *r
	m.touch(recordTask, t.Task)
	m.event(Event{Kind: TaskMade, Holder: Holder{Requester: t.Requester, Task: t.Task, Reason: t.Reason}})
	left := slices.Clone(r.Windows)
	before := slices.Clone(t.windows)
	for _, w := range before {
		i := slices.IndexFunc(left, func(n Window) bool { return w.active && n.Path == w.Path && !n.From.After(m.now.Wall) })
		if i < 0 {
			continue
		}
		m.extend(w, &left[i])
		left = slices.Delete(left, i, i+1)
		before = slices.DeleteFunc(before, func(other *window) bool { return other == w })
	}
	for _, w := range left {
		m.addWindow(t, w)
	}
	for _, w := range before {
		m.clearWindow(w, CauseReplaced)
	}
	m.startDue(t)
}

// extend has an active window end when it is asked for now.
func (m *Model) extend(w *window, asked *Window) {
	w.Until = asked.Until
	w.ends = m.now.Steady + w.Until.Sub(m.now.Wall)
	m.wall.set(&w.wall, w, w.Until.UnixNano())
	m.steady.set(&w.steady, w, int64(w.ends))
}
