package register

import "strings"

// set numbers values from 0 on. The last one comes again and again where points come in order.
type set[T comparable] struct {
	own   func(T) T // a copy that shares no memory with blocks and requests
	list  []T
	index map[T]uint32
	last  uint32
}

func newSet[T comparable](own func(T) T) set[T] {
	return set[T]{own: own, index: map[T]uint32{}}
}

func (s *set[T]) number(v T) uint32 {
	if int(s.last) < len(s.list) && s.list[s.last] == v {
		return s.last
	}
	n, known := s.index[v]
	if !known {
		v = s.own(v)
		n = uint32(len(s.list))
		s.index[v] = n
		s.list = append(s.list, v)
	}
	s.last = n
	return n
}

func (t Traits) clone() Traits {
	t.Unit, t.Tags, t.Child = strings.Clone(t.Unit), strings.Clone(t.Tags), strings.Clone(t.Child)
	return t
}

// clean returns a text as JSON keeps it.
func clean(text string) string { return strings.ToValidUTF8(text, "\ufffd") }
