package device

import "voltbus/point"

// seating gives every device a place within its group: the places that devices have stay
// theirs, newcomers get the lowest free ones in order.
type seating map[point.Path]seat

type seat struct {
	group string
	place int
}

// reseat returns the seating of a new set of devices.
func (s seating) reseat(devices []Config) seating {
	next := make(seating, len(devices))
	taken := make(map[seat]bool, len(devices))
	for _, c := range devices {
		if old, sits := s[c.Path]; sits && old.group == c.Group {
			next[c.Path] = old
			taken[old] = true
		}
	}
	lowest := make(map[string]int)
	for _, c := range devices {
		if _, sits := next[c.Path]; sits {
			continue
		}
		free := seat{group: c.Group, place: lowest[c.Group]}
		for taken[free] {
			free.place++
		}
		lowest[c.Group] = free.place + 1
		next[c.Path] = free
	}
	return next
}
