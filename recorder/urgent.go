package recorder

import (
	"slices"
	"strings"

	"voltbus/point"
)

// maxUrgent bounds the paths of which it is remembered whether they are urgent.
const maxUrgent = 1 << 17

// urgency knows which points belong into the urgent lane.
type urgency struct {
	patterns []point.Pattern
	known    map[point.Path]bool
}

// of reports whether a path belongs into the urgent lane.
func (u *urgency) of(p point.Path) bool {
	urgent, known := u.known[p]
	if !known {
		urgent = slices.ContainsFunc(u.patterns, func(pt point.Pattern) bool { return pt.Match(p) })
		if len(u.known) >= maxUrgent {
			clear(u.known)
		}
		u.known[point.Path(strings.Clone(string(p)))] = urgent
	}
	return urgent
}
