package model

import (
	"slices"
	"time"

	"voltbus/control"
	"voltbus/point"
)

// wish is a command as the reference keeps it: a row in a list.
type wish struct {
	point      point.Path
	who, id    string
	level      control.Level
	value      float64
	endsSteady time.Duration
	fresh      bool  // the device has not taken it yet
	first      bool  // it was the most urgent when it was made, and its first write has no outcome yet
	prior      *wish // what it replaced, which comes back if the device refuses
}

// reference is the obvious model: a list of wishes that is searched each time.
type reference struct {
	wishes []wish
	frozen map[point.Pattern]time.Duration // override → its end on the steady clock; 0: none
}

func (r *reference) advance(now time.Duration) {
	r.wishes = slices.DeleteFunc(r.wishes, func(w wish) bool { return w.endsSteady > 0 && w.endsSteady <= now })
	for pattern, end := range r.frozen {
		if end > 0 && end <= now {
			delete(r.frozen, pattern)
		}
	}
}

func (r *reference) overridden(p point.Path) bool {
	for pattern := range r.frozen {
		if pattern.Match(p) {
			return true
		}
	}
	return false
}

// command reports whether the wish is granted.
func (r *reference) command(w wish) bool {
	if r.overridden(w.point) {
		return false
	}
	for i, old := range r.wishes {
		if old.point == w.point && old.level == w.level {
			if old.who != w.who {
				return false
			}
			r.wishes = slices.Delete(r.wishes, i, i+1)
			if w.prior = old.prior; !old.fresh || w.prior == nil {
				old.prior, old.first = nil, false
				w.prior = &old
			}
			break
		}
	}
	w.first = w.level < r.level(w.point)
	r.wishes = append(r.wishes, w)
	return true
}

// taken notes that the device took a wish.
func (r *reference) taken(who, id string) {
	for i := range r.wishes {
		if w := &r.wishes[i]; w.who == who && w.id == id {
			w.fresh, w.prior = false, nil
		}
	}
}

// declined takes a wish out that the device never took, if that said no for good or is the first outcome, and puts
// back what stood there. It reports whether it did.
func (r *reference) declined(sent *control.Write, final bool, now time.Duration) bool {
	i := slices.IndexFunc(r.wishes, func(w wish) bool { return w.who == sent.Requester && w.id == sent.Command })
	if i < 0 && !sent.Read { // it was replaced, and is no way back any more
		for k := range r.wishes {
			if p := r.wishes[k].prior; p != nil && p.fresh && p.who == sent.Requester && p.id == sent.Command {
				r.wishes[k].prior = nil
			}
		}
		x, _ := sent.Value.Number()
		value, _ := r.value(sent.Point)
		return value != x // what is wished now is written, and has its own outcome
	}
	if i < 0 || !r.wishes[i].fresh || !r.wishes[i].first && (sent.Read || !final) {
		return false
	}
	if final && sent.Read { // it cannot be read: it is written
		r.tried(sent.Point, false)
		return true
	}
	prior := r.wishes[i].prior
	r.wishes = slices.Delete(r.wishes, i, i+1)
	if prior != nil && (prior.endsSteady == 0 || prior.endsSteady > now) {
		r.wishes = append(r.wishes, *prior)
	}
	return true
}

// tried notes an outcome of a point.
func (r *reference) tried(p point.Path, failed bool) {
	for i := range r.wishes {
		if w := &r.wishes[i]; w.point == p {
			w.first = w.first && !failed && w.level == r.level(p)
		}
	}
}

// value is the most urgent wish for a point, else its default, which every point of the test has.
func (r *reference) value(p point.Path) (float64, string) {
	best, value, who := control.Level(control.Levels+1), -1.0, ""
	for _, w := range r.wishes {
		if w.point == p && w.level < best {
			best, value, who = w.level, w.value, w.who
		}
	}
	return value, who
}

// level is that of the most urgent wish for a point.
func (r *reference) level(p point.Path) control.Level {
	best := control.Level(control.Levels + 1)
	for _, w := range r.wishes {
		if w.point == p {
			best = min(best, w.level)
		}
	}
	return best
}
