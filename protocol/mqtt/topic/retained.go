package topic

// Retained holds one value for each topic name and finds those that match a filter. V is usually
// a pointer to a message. Make it with [NewRetained].
type Retained[V any] struct {
	levels levels
	values []retained[V] // 0 is unused
	free   []uint32
	count  int
}

type retained[V any] struct {
	name  string
	value V
}

// NewRetained returns an empty set.
func NewRetained[V any]() *Retained[V] {
	return &Retained[V]{levels: newLevels(), values: make([]retained[V], 1)}
}

// Len returns how many names have a value.
func (r *Retained[V]) Len() int { return r.count }

// Set gives a valid name a value and returns the one it had.
func (r *Retained[V]) Set(name string, value V) (old V, had bool) {
	at := &r.levels.nodes[r.levels.make(name)]
	if at.value != 0 {
		old = r.values[at.value].value
		r.values[at.value].value = value
		return old, true
	}
	if n := len(r.free); n > 0 {
		at.value = r.free[n-1]
		r.free = r.free[:n-1]
	} else {
		at.value = uint32(len(r.values))
		r.values = append(r.values, retained[V]{})
	}
	r.values[at.value] = retained[V]{name, value}
	r.count++
	return old, false
}

// Get returns the value of a name.
func (r *Retained[V]) Get(name string) (V, bool) {
	if id, ok := r.levels.find(name); ok && r.levels.nodes[id].value != 0 {
		return r.values[r.levels.nodes[id].value].value, true
	}
	var zero V
	return zero, false
}

// Delete takes the value of a name away and returns it.
func (r *Retained[V]) Delete(name string) (V, bool) {
	var zero V
	id, ok := r.levels.find(name)
	if !ok || r.levels.nodes[id].value == 0 {
		return zero, false
	}
	at := r.levels.nodes[id].value
	old := r.values[at].value
	r.values[at] = retained[V]{}
	r.free = append(r.free, at)
	r.levels.nodes[id].value = 0
	r.levels.prune(name, id)
	if r.count--; r.count == 0 {
		r.values, r.free = make([]retained[V], 1), nil
	}
	return old, true
}

// Match calls yield with every name that matches a valid filter, in no particular order, until it
// returns false. yield must not change the set. It returns how many levels of names it looked at,
// each at most once.
func (r *Retained[V]) Match(filter string, yield func(name string, value V) bool) (looked int) {
	w := walk[V]{r, yield, 0}
	w.below(0, []byte(filter))
	return w.looked
}

// Some calls yield with the names behind a place, whatever they begin with, until it looked at so many places or yield
// returns false. It returns the place to go on at, 0 behind the last one. What is set meanwhile may be missed until the
// next time around. yield must not change the set.
func (r *Retained[V]) Some(from, most int, yield func(name string, value V) bool) (next int) {
	if from < 0 || from >= len(r.values) {
		from = 0
	}
	end := min(len(r.values), from+most)
	for at := from; at < end; at++ {
		if v := &r.values[at]; v.name != "" && !yield(v.name, v.value) {
			return at + 1
		}
	}
	if end == len(r.values) {
		return 0
	}
	return end
}

// walk is one look-up.
type walk[V any] struct {
	*Retained[V]
	yield  func(name string, value V) bool
	looked int
}

// below yields what matches the rest of a filter below a node, and reports whether there may be more.
func (w *walk[V]) below(at nodeID, filter []byte) bool {
	level, rest, more := cut(filter)
	switch string(level) {
	case "#":
		return w.everything(at)
	case "+":
		for id := w.levels.nodes[at].child; id != none; id = w.levels.nodes[id].next {
			if !w.levels.nodes[id].hidden && !w.enter(id, rest, more) {
				return false
			}
		}
		return true
	}
	id := w.levels.down(at, level)
	return id == none || w.enter(id, rest, more)
}

// enter goes on with a node that the level of the filter before rest matches.
func (w *walk[V]) enter(id nodeID, rest []byte, more bool) bool {
	w.looked++
	if more {
		return w.below(id, rest)
	}
	return w.give(id)
}

func (w *walk[V]) give(id nodeID) bool {
	at := w.levels.nodes[id].value
	return at == 0 || w.yield(w.values[at].name, w.values[at].value)
}

// everything yields a node and all below it, without recursion, however deep it is.
func (w *walk[V]) everything(top nodeID) bool {
	nodes := w.levels.nodes
	for id := top; ; {
		if !nodes[id].hidden || top != 0 {
			if id != top {
				w.looked++
			}
			if !w.give(id) {
				return false
			}
			if nodes[id].child != none {
				id = nodes[id].child
				continue
			}
		}
		for id != top && nodes[id].next == none {
			id = nodes[id].parent
		}
		if id == top {
			return true
		}
		id = nodes[id].next
	}
}
