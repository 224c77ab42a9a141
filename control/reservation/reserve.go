package reservation

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// Reserve decides a reservation. A conflict is refused, with the windows of all reservations in the way in
// Holders, including the requester's others. Those that give way are in Lost. A requester that reserves again
// for its own task, with the same name, priority and paths, gets the windows that it now requests: an agent
// does this after a restart. Its commands under windows that continue stay.
func (r *Register) Reserve(asked control.Reservation) control.Decision {
	if d, ok := r.wellFormed(&asked); !ok {
		return d
	}
	standing, yielding := r.contest(&asked)
	if len(standing) > 0 {
		return conflict(&asked, standing)
	}
	return r.accept(asked, yielding)
}

// wellFormed refuses a malformed reservation.
func (r *Register) wellFormed(asked *control.Reservation) (control.Decision, bool) {
	const op = "Reserve"
	limits := &r.step.Limits
	no := func(why control.Why, err error) (control.Decision, bool) {
		return control.Refuse(op, why, fault.Invalid, asked.Task, err), false
	}
	for _, name := range []struct{ what, text string }{{"requester", asked.Requester}, {"name of the task", asked.Task}} {
		if err := limits.Named(name.what, name.text); err != nil {
			return no(control.WhyInvalid, err)
		}
	}
	tooLong, there := limits.Explained(asked.Reason), r.bookings[asked.Task]
	switch {
	case asked.Priority != control.High && asked.Priority != control.Low && asked.Priority != control.LowPreempt:
		return no(control.WhyPriority, fmt.Errorf("%q is no priority; write high, low or low-preempt", asked.Priority))
	case there != nil && !there.again(asked):
		d := control.Refuse(op, control.WhyTaskExists, fault.Conflict, asked.Task, errors.New("a task of this name is there already; choose another name, or cancel it"))
		d.Holders = there.holders()
		return d, false
	case tooLong != nil:
		return no(control.WhyInvalid, tooLong)
	case len(asked.Windows) == 0:
		return no(control.WhyInvalid, errors.New("it has no windows; write at least one with path, start and end"))
	case r.calendar.count+len(asked.Windows) > limits.Windows:
		return control.Refuse(op, control.WhyFull, fault.Unavailable, asked.Task, fmt.Errorf("there are %d windows; cancel some first", r.calendar.count)), false
	}
	if why, err := r.badWindows(asked); err != nil {
		return no(why, err)
	}
	return control.Decision{}, true
}

// badWindows returns the problem of the first invalid window.
func (r *Register) badWindows(asked *control.Reservation) (control.Why, error) {
	own, now := newCalendar(), r.step.Now.Wall
	bearer := &booking{Reservation: *asked}
	for i := range asked.Windows {
		w := &asked.Windows[i]
		if err := w.Path.Validate(); err != nil {
			return control.WhyInvalid, fmt.Errorf("window %d: %w", i+1, err)
		}
		if !w.From.Before(w.Until) {
			return control.WhyInvalid, fmt.Errorf("window %d of %s ends at %s, before it starts; exchange the times", i+1, w.Path, control.ClockText(w.Until))
		}
		if !now.Before(w.Until) || w.Until.Year() > lastYear || w.From.Year() < firstYear {
			return control.WhyInvalid, fmt.Errorf("window %d of %s ends at %s, which is over or centuries away; choose another time", i+1, w.Path, control.ClockText(w.Until))
		}
		if found := own.overlapping(now, w); len(found) > 0 {
			return control.WhySelf, fmt.Errorf("window %d of %s overlaps the one of %s from %s; join them", i+1, w.Path, found[0].Path, control.ClockText(found[0].From))
		}
		own.add(&window{Window: *w, booking: bearer})
	}
	return "", nil
}

// The years whose nanoseconds since 1970 fit 64 bits.
const (
	firstYear = 1700
	lastYear  = 2200
)

// contest returns the windows in conflict with a reservation, and the bookings that would give way.
func (r *Register) contest(asked *control.Reservation) (standing []*window, yielding []*booking) {
	for i := range asked.Windows {
		for _, w := range r.calendar.overlapping(r.step.Now.Wall, &asked.Windows[i]) {
			switch {
			case w.booking == r.bookings[asked.Task]: // it is replaced
			case !w.booking.givesWayTo(asked.Priority):
				if !slices.Contains(standing, w) {
					standing = append(standing, w)
				}
			case !w.booking.preempted && !slices.Contains(yielding, w.booking):
				yielding = append(yielding, w.booking)
			}
		}
	}
	slices.SortFunc(yielding, func(a, b *booking) int { return cmp.Compare(a.order, b.order) })
	return standing, yielding
}

// accept creates the booking, after removing those that give way.
func (r *Register) accept(asked control.Reservation, yielding []*booking) control.Decision {
	d := control.Decision{Status: control.Accepted}
	for _, other := range yielding {
		d.Lost = append(d.Lost, other.holder())
		r.preempt(other)
	}
	asked.Windows = slices.Clone(asked.Windows)
	for _, w := range asked.Windows {
		if w.Until.After(d.Until) {
			d.Until = w.Until
		}
	}
	if b := r.bookings[asked.Task]; b != nil {
		r.replace(b, &asked)
		return d
	}
	b := &booking{Reservation: asked, register: r, order: r.step.NextOrder()}
	r.bookings[b.Task] = b
	r.step.Touch(step.Task, b.Task)
	r.step.Event(control.Event{Kind: control.TaskMade, Holder: b.holder()})
	for _, w := range asked.Windows {
		b.add(w)
	}
	b.startDue()
	return d
}

// preempt ends a booking; its active windows keep the grace period.
func (r *Register) preempt(b *booking) {
	s := r.step
	b.preempted = true
	s.Touch(step.Task, b.Task)
	s.Event(control.Event{Kind: control.TaskEnded, Holder: b.holder(), Cause: control.CausePreempted})
	for _, w := range slices.Clone(b.windows) {
		if !w.active {
			w.clear(control.CausePreempted)
			continue
		}
		if until := s.Now.Wall.Add(s.Limits.Grace); until.Before(w.Until) {
			w.Until = until.UTC()
			s.Wall.Set(&w.wall, w, w.Until.UnixNano())
		}
		if ends := s.Now.Steady + s.Limits.Grace; ends < w.ends {
			w.ends = ends
			s.Steady.Set(&w.steady, w, int64(ends))
		}
	}
	if len(b.windows) == 0 {
		delete(r.bookings, b.Task)
	}
}

// pathsOf returns the paths of windows, each once, sorted.
func pathsOf(windows []control.Window) []point.Path {
	paths := make([]point.Path, len(windows))
	for i := range windows {
		paths[i] = windows[i].Path
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// replace gives a booking the windows that its requester now requests. Active windows that are requested
// again continue.
func (r *Register) replace(b *booking, asked *control.Reservation) {
	b.Reservation = *asked
	now := r.step.Now.Wall
	r.step.Touch(step.Task, b.Task)
	r.step.Event(control.Event{Kind: control.TaskMade, Holder: b.holder()})
	left := slices.Clone(asked.Windows)
	before := slices.Clone(b.windows)
	for _, w := range slices.Clone(before) {
		i := slices.IndexFunc(left, func(n control.Window) bool { return w.active && n.Path == w.Path && !n.From.After(now) })
		if i < 0 {
			continue
		}
		w.extend(&left[i])
		left = slices.Delete(left, i, i+1)
		before = slices.DeleteFunc(before, func(other *window) bool { return other == w })
	}
	for _, w := range left {
		b.add(w)
	}
	for _, w := range before {
		w.clear(control.CauseReplaced)
	}
	b.startDue()
}
