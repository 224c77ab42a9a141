package step

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"voltbus/control"
)

// The kinds of record, in the order in which they are restored.
const (
	Meta     = "meta"
	Task     = "task"
	Override = "override"
	Point    = "point"
	Proposal = "proposal"
	Answers  = "answers" // those given together
	Answer   = "answer"  // a single one, as written by earlier programs
)

// Key identifies a record.
type Key struct{ Kind, Key string }

// Counters are the counters that continue after a restart.
type Counters struct {
	Order     uint64         `json:"order"`
	LastWrite uint64         `json:"last_write"`
	Fences    control.Newest `json:"fences,omitempty"`
}

// Counters returns the counters.
func (s *Step) Counters() Counters {
	return Counters{Order: s.order, LastWrite: s.writes, Fences: s.Fences}
}

// SetCounters sets the counters.
func (s *Step) SetCounters(c Counters) {
	s.order, s.writes = c.Order, c.LastWrite
	if s.Fences = c.Fences; s.Fences == nil {
		s.Fences = make(control.Newest)
	}
}

// manyChanges is an unusually large number of changes at once.
const manyChanges = 1000

// Changes returns the keys of the records that changed since its last call.
func (s *Step) Changes() []Key {
	keys := make([]Key, 0, len(s.changed))
	for key := range s.changed {
		keys = append(keys, key)
	}
	if clear(s.changed); len(keys) > manyChanges {
		s.changed = make(map[Key]struct{}) // a map never shrinks, and a large empty one is slow to iterate over
	}
	return keys
}

// Sort puts records in the order in which they are restored.
func Sort(records []control.Record) {
	slices.SortFunc(records, func(a, b control.Record) int {
		return cmp.Or(rank(a.Kind)-rank(b.Kind), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Key, b.Key))
	})
}

// rank is the position of a kind; unknown ones come first.
func rank(kind string) int {
	switch kind {
	case Meta:
		return 0
	case Task:
		return 1
	case Override:
		return 2
	case Point:
		return 3
	case Proposal:
		return 4
	case Answers, Answer:
		return 5
	}
	return -1
}

// Join makes a key of a requester and an identifier, which may contain any characters.
func Join(r control.Ref) string {
	return strconv.Itoa(len(r.Requester)) + ":" + r.Requester + r.ID
}

// Split is the inverse of Join.
func Split(key string) control.Ref {
	length, rest, _ := strings.Cut(key, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(rest) {
		return control.Ref{}
	}
	return control.Ref{Requester: rest[:n], ID: rest[n:]}
}
