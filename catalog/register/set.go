package register

import "strings"

// set numbers values that points have. The last one comes again and again where points come in order. A value that no
// point has any more is forgotten, and its number given to another one: who describes points over and over takes no
// more memory than the points.
type set[T comparable] struct {
	own   func(T) T // a copy that shares no memory with blocks and requests
	list  []T
	users []uint32 // by number: how many points have the value
	free  []uint32 // numbers without points
	index map[T]uint32
	last  uint32
}

func newSet[T comparable](own func(T) T) set[T] {
	return set[T]{own: own, index: map[T]uint32{}}
}

// number returns the number of a value that one more point has.
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

// leave notes that one point less has the value of a number.
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

// clean returns a text as JSON keeps it.
func clean(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
