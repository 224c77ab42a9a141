package topic

import "slices"

// indexed is from how many members on they are found by a map.
const indexed = 32

// members is a set of subscribers that is mostly small and mostly read.
type members[S comparable, V any] struct {
	list  []Member[S, V]
	index map[S]int // nil for few members
}

func (m *members[S, V]) find(subscriber S) int {
	if m.index != nil {
		if i, ok := m.index[subscriber]; ok {
			return i
		}
		return -1
	}
	return slices.IndexFunc(m.list, func(e Member[S, V]) bool { return e.Subscriber == subscriber })
}

// set adds a member, or replaces its value and returns false.
func (m *members[S, V]) set(subscriber S, value V) bool {
	if i := m.find(subscriber); i >= 0 {
		m.list[i].Value = value
		return false
	}
	if m.list == nil {
		m.list = make([]Member[S, V], 0, 1) // most filters have one subscriber
	}
	m.list = append(m.list, Member[S, V]{subscriber, value})
	switch {
	case m.index != nil:
		m.index[subscriber] = len(m.list) - 1
	case len(m.list) > indexed:
		m.index = make(map[S]int, 2*indexed)
		for i, e := range m.list {
			m.index[e.Subscriber] = i
		}
	}
	return true
}

// remove takes a member away and reports whether it was there.
func (m *members[S, V]) remove(subscriber S) bool {
	i := m.find(subscriber)
	if i < 0 {
		return false
	}
	last := len(m.list) - 1
	m.list[i] = m.list[last]
	m.list[last] = Member[S, V]{}
	m.list = m.list[:last]
	if m.index != nil {
		if i < last {
			m.index[m.list[i].Subscriber] = i
		}
		delete(m.index, subscriber)
	}
	if last == 0 {
		*m = members[S, V]{}
	}
	return true
}

// group returns the shared subscription of a name, which it makes if need be.
func (p *place[S, V]) group(f Filter) *Group[S, V] {
	for _, g := range p.groups {
		if g.name == f.Share {
			return g
		}
	}
	g := &Group[S, V]{name: f.Share, filter: f.Topic}
	p.groups = append(p.groups, g)
	return g
}

// leave takes a member out of a shared subscription and reports whether it was there.
func (p *place[S, V]) leave(name string, subscriber S) bool {
	i := slices.IndexFunc(p.groups, func(g *Group[S, V]) bool { return g.name == name })
	if i < 0 || !p.groups[i].members.remove(subscriber) {
		return false
	}
	if len(p.groups[i].members.list) == 0 {
		p.groups = slices.Delete(p.groups, i, i+1)
	}
	return true
}
