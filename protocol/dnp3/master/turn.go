package master

import "slices"

// Turn lets the associations of a half-duplex line wait for answers one at a time, in
// the order they asked. The zero value is ready. All of its associations must be driven
// by the same goroutine, as those of one channel are.
type Turn struct {
	holder  *Association
	waiting []*Association
}

// take reports whether it is the association's turn; if not, it is woken when it is.
func (t *Turn) take(a *Association) bool {
	if t == nil || t.holder == a {
		return true
	}
	if t.holder == nil {
		t.holder = a
		return true
	}
	if !slices.Contains(t.waiting, a) {
		t.waiting = append(t.waiting, a)
	}
	return false
}

// give passes the turn on, or takes an association off the queue.
func (t *Turn) give(a *Association) {
	if t == nil {
		return
	}
	t.waiting = slices.DeleteFunc(t.waiting, func(other *Association) bool { return other == a })
	if t.holder != a {
		return
	}
	t.holder = nil
	if len(t.waiting) > 0 {
		t.holder = t.waiting[0]
		t.waiting = slices.Delete(t.waiting, 0, 1)
		t.holder.poke()
	}
}
