// Package reservation manages reservations: who may command which part of a plant when. It starts and ends their windows, and ends the
// commands made under a window together with it.
package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// Register holds the reservations of a node. It is used by one goroutine at a time.
type Register struct {
	step     *step.Step
	bookings map[string]*booking // by task name
	calendar calendar
	ended    func(task string, path point.Path)
}

// New returns a register without reservations. It calls ended when a window of a task at a path has ended:
// the commands there that no other window of the task covers then end.
func New(s *step.Step, ended func(task string, path point.Path)) *Register {
	return &Register{step: s, bookings: make(map[string]*booking), calendar: newCalendar(), ended: ended}
}

// booking is an accepted reservation.
type booking struct {
	control.Reservation
	register  *Register
	order     uint64
	started   bool // a window has started
	preempted bool
	ending    bool // all its windows are being ended
	windows   []*window
}

// again reports whether a reservation repeats what its requester has already reserved.
func (b *booking) again(r *control.Reservation) bool {
	return b.Requester == r.Requester && b.Priority == r.Priority && !b.preempted && slices.Equal(pathsOf(b.Windows), pathsOf(r.Windows))
}

func (b *booking) givesWayTo(p control.Priority) bool {
	return p == control.High && (b.preempted || b.Priority == control.LowPreempt || b.Priority == control.Low && !b.started)
}

// holds reports whether an active window covers a point.
func (b *booking) holds(p point.Path) bool {
	return slices.ContainsFunc(b.windows, func(w *window) bool { return w.active && control.Covers(w.Path, p) })
}

// holder describes the booking without a window.
func (b *booking) holder() control.Holder {
	return control.Holder{Requester: b.Requester, Task: b.Task, Reason: b.Reason}
}

// holders describes the windows.
func (b *booking) holders() []control.Holder {
	var holders []control.Holder
	for _, w := range b.windows {
		holders = append(holders, w.holder())
	}
	return holders
}

// Has reports whether a reservation of a task exists.
func (r *Register) Has(task string) bool { return r.bookings[task] != nil }

// Holds reports whether an active window of a task covers a point.
func (r *Register) Holds(task string, p point.Path) bool {
	b := r.bookings[task]
	return b != nil && b.holds(p)
}

// Active returns the reservation that holds a point now; false if there is none.
func (r *Register) Active(p point.Path) (control.Holder, bool) {
	w := r.calendar.activeFor(p)
	if w == nil {
		return control.Holder{}, false
	}
	return w.holder(), true
}

// Requesters returns the requesters that have reservations, one entry per reservation.
func (r *Register) Requesters() []string {
	names := make([]string, 0, len(r.bookings))
	for _, b := range r.bookings {
		names = append(names, b.Requester)
	}
	return names
}

// Tasks returns the reservations, oldest first.
func (r *Register) Tasks() []control.Task {
	all := make([]control.Task, 0, len(r.bookings))
	for _, b := range r.sorted() {
		v := control.Task{Reservation: b.Reservation, Started: b.started, Preempted: b.preempted}
		v.Windows = nil
		for _, w := range b.windows {
			v.Windows = append(v.Windows, w.Window)
			if w.active {
				v.Active = append(v.Active, w.Window)
			}
		}
		all = append(all, v)
	}
	return all
}

// sorted returns the bookings in the order of creation.
func (r *Register) sorted() []*booking {
	return slices.SortedFunc(maps.Values(r.bookings), func(a, b *booking) int { return cmp.Compare(a.order, b.order) })
}

// Cancel ends a reservation of the requester with all its windows, and the commands made under it.
func (r *Register) Cancel(requester, task string) control.Decision {
	const op = "Cancel"
	b := r.bookings[task]
	switch {
	case b == nil:
		return control.Refuse(op, control.WhyUnknown, fault.NotFound, task, errors.New("there is no such task; it may be over"))
	case b.Requester != requester:
		d := control.Refuse(op, control.WhyNotYours, fault.Refused, task, control.ErrNotYours)
		d.Holders = b.holders()
		return d
	}
	r.end(b, control.CauseCanceled)
	return control.Decision{Status: control.Accepted}
}

// CancelAll ends every reservation of a requester.
func (r *Register) CancelAll(requester string, cause control.Cause) {
	for _, b := range r.sorted() {
		if b.Requester == requester {
			r.end(b, cause)
		}
	}
}

// end ends a booking with all its windows.
func (r *Register) end(b *booking, cause control.Cause) {
	b.ending = true
	for _, w := range slices.Clone(b.windows) {
		w.clear(cause)
	}
	r.drop(b, cause)
}

// drop removes a booking without windows.
func (r *Register) drop(b *booking, cause control.Cause) {
	delete(r.bookings, b.Task)
	r.step.Touch(step.Task, b.Task)
	r.step.Event(control.Event{Kind: control.TaskEnded, Holder: b.holder(), Cause: cause})
}

// conflict refuses a reservation, naming the windows in conflict with it.
func conflict(r *control.Reservation, standing []*window) control.Decision {
	first := standing[0]
	d := control.Refuse("Reserve", control.WhyConflict, fault.Conflict, r.Task, fmt.Errorf(
		"%s has reserved %s for the task %q from %s to %s; choose another time",
		first.booking.Requester, first.Path, first.booking.Task, control.ClockText(first.From), control.ClockText(first.Until)))
	for _, w := range standing {
		d.Holders = append(d.Holders, w.holder())
	}
	return d
}
