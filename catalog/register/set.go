package register

import "strings"

// set numbers the values of points. The last one recurs when points come in order. A value that no point has any more
// is removed, and its number reused: describing points repeatedly takes no more memory than the points.
type set[T comparable] struct {
	own   func(T) T // returns a copy that shares no memory with blocks and requests
	list  []T
	users []uint32 // by number: how many points have the value
	free  []uint32 // numbers without points
	index map[T]uint32
	last  uint32
}

func newSet[T comparable](own func(T) T) set[T] {
	return set[T]{own: own, index: map[T]uint32{}}
}

// number returns the number of a value, for one more point.
func (s *set[T]) number(v T) uint32 {
	if int(s.last) < len(s.list) && s.users[s.last] > 0 && s.list[s.last] == v {
		s.users[s.last]++
		return s.last
	}
	n, known := s.index[v]
	if !known {
		n = s.add(s.own(v))
	}
	s.users[n]++
	s.last = n
	return n
}

func (s *set[T]) add(v T) uint32 {
	n := uint32(len(s.list))
	if spare := len(s.free); spare > 0 {
		n = s.free[spare-1]
		s.free = s.free[:spare-1]
		s.list[n] = v
	} else {
		s.list, s.users = append(s.list, v), append(s.users, 0)
	}
	s.index[v] = n
	return n
}

// leave records that one point fewer has the value of a number.
func (s *set[T]) leave(n uint32) {
	if s.users[n]--; s.users[n] > 0 {
		return
	}
	delete(s.index, s.list[n])
	var none T
	s.list[n] = none
	s.free = append(s.free, n)
}

func (t Traits) clone() Traits {
	t.Unit, t.Tags, t.Child = strings.Clone(t.Unit), strings.Clone(t.Tags), strings.Clone(t.Child)
	return t
}

// clean returns a string as JSON represents it.
func clean(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
