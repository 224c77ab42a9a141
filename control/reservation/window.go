package reservation

import (
	"cmp"
	"slices"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// add adds a window that has not started to the booking.
func (b *booking) add(given control.Window) {
	w := &window{Window: given, booking: b}
	b.windows = append(b.windows, w)
	b.register.calendar.add(w)
	b.register.step.Wall.Set(&w.wall, w, w.From.UnixNano())
}

// startDue starts the windows whose time has come, and then ends those whose time is over.
func (b *booking) startDue() {
	s := b.register.step
	now := s.Now.Wall
	for _, over := range []bool{false, true} {
		for _, w := range slices.Clone(b.windows) {
			if !w.active && !now.Before(w.From) && over == !now.Before(w.Until) {
				s.Wall.Stop(&w.wall)
				w.Due()
			}
		}
	}
}

// start activates the window, or waits for the one that is still in its place.
func (w *window) start() {
	r := w.booking.register
	s := r.step
	if other := r.calendar.blocker(w); other != nil {
		until := min(int64(other.ends-s.Now.Steady), other.Until.Sub(s.Now.Wall).Nanoseconds())
		s.Wall.Set(&w.wall, w, s.Now.Wall.UnixNano()+max(until, 1))
		return
	}
	w.active, w.booking.started = true, true
	r.calendar.active[w.Path] = append(r.calendar.active[w.Path], w)
	w.ends = s.Now.Steady + w.Until.Sub(s.Now.Wall)
	s.Wall.Set(&w.wall, w, w.Until.UnixNano())
	s.Steady.Set(&w.steady, w, int64(w.ends))
	s.Steady.Set(&w.announce, (*announcer)(w), int64(s.Now.Steady+s.Limits.Announce))
	s.Touch(step.Task, w.booking.Task)
	s.Event(control.Event{Kind: control.WindowStarted, Holder: w.holder()})
}

// extend makes an active window end at the newly requested time.
func (w *window) extend(asked *control.Window) {
	s := w.booking.register.step
	w.Until = asked.Until
	w.ends = s.Now.Steady + w.Until.Sub(s.Now.Wall)
	s.Wall.Set(&w.wall, w, w.Until.UnixNano())
	s.Steady.Set(&w.steady, w, int64(w.ends))
}

// end ends the window and the commands made under it; the last window ends its booking.
func (w *window) end(cause control.Cause) {
	if w.booking.preempted {
		cause = control.CausePreempted
	}
	w.clear(cause)
	if len(w.booking.windows) == 0 {
		w.booking.register.drop(w.booking, cause)
	}
}

// clear removes the window from its booking and the calendar.
func (w *window) clear(cause control.Cause) {
	r := w.booking.register
	s := r.step
	s.Wall.Stop(&w.wall)
	s.Steady.Stop(&w.steady)
	s.Steady.Stop(&w.announce)
	r.calendar.remove(w)
	b := w.booking
	b.windows = slices.DeleteFunc(b.windows, func(other *window) bool { return other == w })
	s.Touch(step.Task, b.Task)
	if w.active {
		s.Event(control.Event{Kind: control.WindowEnded, Holder: w.holder(), Cause: cause})
	}
	r.ended(b.Task, w.Path)
	if w.active {
		r.startNext(w.Path)
	}
}

// startNext starts the windows that waited for one at a path, which has just ended.
func (r *Register) startNext(path point.Path) {
	wall := r.step.Now.Wall
	now := control.Window{Path: path, From: wall, Until: wall.Add(1)}
	waiting := slices.DeleteFunc(r.calendar.overlapping(wall, &now), func(w *window) bool { return w.active || w.booking.ending })
	slices.SortStableFunc(waiting, func(a, b *window) int { return cmp.Compare(a.booking.order, b.booking.order) })
	for _, w := range waiting {
		if !w.active {
			r.step.Wall.Stop(&w.wall)
			w.start()
		}
	}
}
