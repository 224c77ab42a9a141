package control

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// View is what a person sees of a point.
type View struct {
	Spec       Spec
	Array      []Slot // the levels that are taken, the most urgent first
	Overrides  []Holder
	Window     *Holder     // the reservation that holds it now
	Wish       point.Value // what it should be; the zero Value if nothing is wished
	Reverting  bool        // the wish is that of the revert
	Output     Output
	Held       point.Value // what it was last set to, as far as known
	Reported   point.Value // what the device last answered
	Observed   point.Value // the last value that was read
	Later      time.Time   // when it goes on, if a rate, minimum time or pause holds it back
	Failures   int         // of writes, in a row
	FailedWith string      // the device's words; hostile
	FailedKind fault.Kind  // of the last failure, if there are Failures
}

// Slot is one level of the array.
type Slot struct {
	Holder
	Value point.Value
}

// View returns the state of a point; false if it is unknown.
func (m *Model) View(path point.Path) (View, bool) {
	t := m.targets[path]
	if t == nil {
		return View{}, false
	}
	v := View{Spec: *t.spec, Output: Idle, Observed: t.observed}
	if t.frozen > 0 {
		for _, o := range m.sortedOverrides() {
			if o.Pattern.Match(path) {
				v.Overrides = append(v.Overrides, o.holder(m))
			}
		}
	}
	if w := m.calendar.activeFor(path); w != nil {
		h := w.holder()
		v.Window = &h
	}
	if t.work == nil {
		return v, true
	}
	w := t.work
	for _, c := range w.commands {
		v.Array = append(v.Array, Slot{c.holder(m), c.Value})
	}
	wish, wished := t.wish("")
	v.Wish, v.Reverting, v.Output, v.Held, v.Reported = wish.Value, w.reverting, w.state, w.held, w.reported
	v.Failures, v.FailedWith, v.FailedKind = w.failures, w.text, w.kind
	if t.away && (w.state == Held || w.state == Differs || w.state == Mismatch) {
		v.Output, v.Reported = Unknown, point.Value{} // it is not stated from memory
	}
	if wished && (v.Output == Held || v.Output == Differs) && (wish.Release || !t.alike(w.held, wish.Value)) {
		v.Output = Waiting
	}
	if w.alarm.place > 0 {
		v.Later = m.now.at(time.Duration(w.alarm.at))
	}
	return v, true
}

// Follows reports whether readings of a point matter, because somebody wishes something of it or it was set
// to something.
func (m *Model) Follows(path point.Path) bool {
	t := m.targets[path]
	return t != nil && t.work != nil && (len(t.work.commands) > 0 || t.work.reverting || t.work.state != Idle)
}

// Commanded returns the points that are commanded, revert or are held back, by path.
func (m *Model) Commanded() []point.Path {
	var paths []point.Path
	for path, t := range m.targets {
		if w := t.work; w != nil && (len(w.commands) > 0 || w.reverting || w.sent.ID != 0) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// Held returns the commands of a requester, the oldest first; of all for "".
func (m *Model) Held(requester string) []Slot {
	var all []*command
	if requester != "" {
		all = m.selected(requester, Selection{})
	} else {
		for _, c := range m.commands {
			all = append(all, c)
		}
		slices.SortFunc(all, func(a, b *command) int { return cmp.Compare(a.order, b.order) })
	}
	slots := make([]Slot, len(all))
	for i, c := range all {
		slots[i] = Slot{c.holder(m), c.Value}
	}
	return slots
}

// Requesters returns who has commands, tasks or something that waits for approval, by name.
func (m *Model) Requesters() []string {
	names := make(map[string]struct{}, len(m.mine))
	for name := range m.mine {
		names[name] = struct{}{}
	}
	for _, t := range m.tasks {
		names[t.Requester] = struct{}{}
	}
	for r := range m.proposals {
		names[r.requester] = struct{}{}
	}
	return slices.Sorted(maps.Keys(names))
}

// Waiting returns the commands that wait for approval, the oldest first.
func (m *Model) Waiting() []Slot {
	all := make([]*proposal, 0, len(m.proposals))
	for _, p := range m.proposals {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *proposal) int { return cmp.Compare(a.order, b.order) })
	slots := make([]Slot, len(all))
	for i, p := range all {
		slots[i] = Slot{p.holder(m), p.Value}
	}
	return slots
}

// Overridden returns the overrides, the oldest first.
func (m *Model) Overridden() []Holder {
	var all []Holder
	for _, o := range m.sortedOverrides() {
		all = append(all, o.holder(m))
	}
	return all
}

// Task is a reservation as it stands.
type Task struct {
	Reservation      // with the windows that are left
	Started     bool // its first window has started
	Preempted   bool // it ends soon, for another one
	Active      []Window
}

// Tasks returns the reservations, the oldest first.
func (m *Model) Tasks() []Task {
	all := make([]Task, 0, len(m.tasks))
	for _, t := range m.sortedTasks() {
		v := Task{Reservation: t.Reservation, Started: t.started, Preempted: t.preempted}
		v.Windows = nil
		for _, w := range t.windows {
			v.Windows = append(v.Windows, w.Window)
			if w.active {
				v.Active = append(v.Active, w.Window)
			}
		}
		all = append(all, v)
	}
	return all
}
