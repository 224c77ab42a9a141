package master

import (
	"slices"
	"sync"
)

// Turn lets the associations of a half-duplex line wait for answers one at a time, in
// the order they asked. The zero value is ready. Its associations may be on
// several channels.
type Turn struct {
	mu      sync.Mutex
	holder  *Association
	waiting []*Association
}

// take reports whether it is the association's turn; if not, it is woken when it is.
func (t *Turn) take(a *Association) bool {
	if t == nil {
		return true
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.holder == a {
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
	if next := t.pass(a); next != nil {
		next.poke()
	}
}

// pass returns whose turn it is now, nil if that did not change.
func (t *Turn) pass(a *Association) *Association {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.waiting = slices.DeleteFunc(t.waiting, func(other *Association) bool { return other == a })
	if t.holder != a {
		return nil
	}
	t.holder = nil
	if len(t.waiting) > 0 {
		t.holder = t.waiting[0]
		t.waiting = slices.Delete(t.waiting, 0, 1)
	}
	return t.holder
}
