package topic

import (
	"iter"
	"slices"
	"sync/atomic"
)

// Tree holds subscriptions and finds those that a topic name matches. S names a subscriber and V
// is what it subscribed with; both should be small, such as a pointer and a word. Filters without
// wildcards cost one look-up, however many there are. Make it with [NewTree].
type Tree[S comparable, V any] struct {
	exact  map[string]uint32
	levels levels
	places []place[S, V] // 0 is unused
	free   []uint32
	count  int
}

// place is who subscribed to one filter.
type place[S comparable, V any] struct {
	members members[S, V]
	groups  []*Group[S, V]
}

// Member is a subscriber with what it subscribed with.
type Member[S comparable, V any] struct {
	Subscriber S
	Value      V
}

// Group is a shared subscription: each message goes to one of its members (§4.8.2).
type Group[S comparable, V any] struct {
	name    string
	filter  string
	members members[S, V]
	turn    atomic.Uint32
}

// Name returns the name of the shared subscription.
func (g *Group[S, V]) Name() string { return g.name }

// Filter returns the filter that its members subscribed to.
func (g *Group[S, V]) Filter() string { return g.filter }

// Members yields the members.
func (g *Group[S, V]) Members() iter.Seq[Member[S, V]] { return slices.Values(g.members.list) }

// Pick returns the member whose turn it is among those that usable accepts, and false if it
// accepts none. A nil usable accepts all. It may be called by several goroutines at once.
func (g *Group[S, V]) Pick(usable func(Member[S, V]) bool) (Member[S, V], bool) {
	n := uint32(len(g.members.list))
	first := g.turn.Add(1)
	for i := range n {
		m := g.members.list[(first+i)%n]
		if usable == nil || usable(m) {
			return m, true
		}
	}
	return Member[S, V]{}, false
}

// NewTree returns an empty tree.
func NewTree[S comparable, V any]() *Tree[S, V] {
	return &Tree[S, V]{exact: make(map[string]uint32), levels: newLevels(), places: make([]place[S, V], 1)}
}

// Len returns how many subscriptions there are.
func (t *Tree[S, V]) Len() int { return t.count }

// Add subscribes to a valid filter and reports whether the subscription is new; otherwise its
// value is replaced [MQTT-3.8.4-3]. It keeps the strings of the filter.
func (t *Tree[S, V]) Add(f Filter, subscriber S, value V) bool {
	p := &t.places[t.make(f.Topic)]
	m := &p.members
	if f.Share != "" {
		m = &p.group(f).members
	}
	if !m.set(subscriber, value) {
		return false
	}
	t.count++
	return true
}

// Members yields who subscribed to exactly this filter.
func (t *Tree[S, V]) Members(f Filter) iter.Seq[Member[S, V]] {
	at, _ := t.find(f.Topic)
	p := &t.places[at] // nobody is at 0
	if f.Share == "" {
		return slices.Values(p.members.list)
	}
	for _, g := range p.groups {
		if g.name == f.Share {
			return g.Members()
		}
	}
	return slices.Values[[]Member[S, V]](nil)
}

// Remove ends a subscription and reports whether there was one.
func (t *Tree[S, V]) Remove(f Filter, subscriber S) bool {
	at, id := t.find(f.Topic)
	if at == 0 {
		return false
	}
	p := &t.places[at]
	if f.Share == "" {
		if !p.members.remove(subscriber) {
			return false
		}
	} else if !p.leave(f.Share, subscriber) {
		return false
	}
	t.count--
	if len(p.members.list) == 0 && len(p.groups) == 0 {
		t.drop(f.Topic, at, id)
	}
	return true
}

// make returns the place of a filter.
func (t *Tree[S, V]) make(filter string) uint32 {
	if !Wild(filter) {
		at, ok := t.exact[filter]
		if !ok {
			at = t.take()
			t.exact[filter] = at
		}
		return at
	}
	id := t.levels.make(filter)
	if t.levels.nodes[id].value == 0 {
		t.levels.nodes[id].value = t.take()
	}
	return t.levels.nodes[id].value
}

func (t *Tree[S, V]) take() uint32 {
	if n := len(t.free); n > 0 {
		at := t.free[n-1]
		t.free = t.free[:n-1]
		return at
	}
	t.places = append(t.places, place[S, V]{})
	return uint32(len(t.places) - 1)
}

// find returns the place of a filter, 0 if it has none, and the node if it has wildcards.
func (t *Tree[S, V]) find(filter string) (uint32, nodeID) {
	if !Wild(filter) {
		return t.exact[filter], none
	}
	id, _ := t.levels.find(filter)
	return t.levels.nodes[id].value, id // nothing is kept at the root
}

// drop removes a filter that nobody subscribes to any more.
func (t *Tree[S, V]) drop(filter string, at uint32, id nodeID) {
	t.places[at] = place[S, V]{}
	t.free = append(t.free, at)
	if id != none {
		t.levels.nodes[id].value = 0
		t.levels.prune(filter, id)
	} else {
		delete(t.exact, filter)
	}
	if t.count == 0 {
		*t = *NewTree[S, V]()
	}
}

// Matches is what a name matched. It is reused from one [Tree.Match] to the next.
type Matches[S comparable, V any] struct {
	// Sets holds the subscribers of each filter that matched. A subscriber of several filters is
	// in several sets. The slices belong to the tree: read them before it changes.
	Sets [][]Member[S, V]
	// Groups holds the shared subscriptions; each gets the message once more.
	Groups []*Group[S, V]
	// Looked is how many levels of filters with wildcards were looked at, each at most once.
	Looked int

	now, next []nodeID
}

// Match finds the subscriptions that a valid name matches.
func (t *Tree[S, V]) Match(name []byte, m *Matches[S, V]) {
	clear(m.Sets)
	clear(m.Groups)
	m.Sets, m.Groups, m.Looked = m.Sets[:0], m.Groups[:0], 0
	if at := t.exact[string(name)]; at != 0 {
		m.add(&t.places[at])
	}
	if t.levels.nodes[0].kids > 0 {
		t.walk(name, m)
	}
}

// walk goes down the levels with all nodes at once that match so far.
func (t *Tree[S, V]) walk(name []byte, m *Matches[S, V]) {
	m.now = append(m.now[:0], 0)
	hidden := len(name) > 0 && name[0] == '$' // [MQTT-4.7.2-1]
	for more := true; more && len(m.now) > 0; hidden = false {
		var level []byte
		level, name, more = cut(name)
		m.next = m.next[:0]
		m.Looked += len(m.now)
		for _, at := range m.now {
			n := &t.levels.nodes[at]
			if n.kids == 0 {
				continue
			}
			if id := t.levels.down(at, level); id != none {
				m.next = append(m.next, id)
			}
			if hidden {
				continue
			}
			if n.any != none {
				m.next = append(m.next, n.any)
			}
			t.end(n.rest, m)
		}
		m.now, m.next = m.next, m.now
	}
	for _, at := range m.now {
		t.end(at, m)
		t.end(t.levels.nodes[at].rest, m) // "a/#" matches "a" too, §4.7.1.2
	}
}

// end adds what is kept at a node, nothing for none.
func (t *Tree[S, V]) end(id nodeID, m *Matches[S, V]) {
	if at := t.levels.nodes[id].value; at != 0 {
		m.add(&t.places[at])
	}
}

func (m *Matches[S, V]) add(p *place[S, V]) {
	if len(p.members.list) > 0 {
		m.Sets = append(m.Sets, p.members.list)
	}
	m.Groups = append(m.Groups, p.groups...)
}
