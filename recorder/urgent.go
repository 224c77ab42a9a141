package recorder

import (
	"slices"
	"strings"

	"voltbus/point"
)

// maxUrgent bounds the cache of paths known to be urgent or not.
const maxUrgent = 1 << 17

// urgency knows which points belong to the urgent lane.
type urgency struct {
	patterns []point.Pattern
	known    map[point.Path]bool
}

// of reports whether a path belongs to the urgent lane.
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
