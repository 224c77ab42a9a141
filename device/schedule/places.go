package schedule

import "voltbus/point"

// Places assigns every device a place within its group: existing devices keep theirs, newcomers get the
// lowest free ones in order.
type Places map[point.Path]place

type place struct {
	group  string
	number int
}

// Member is a device and its group.
type Member struct {
	Path  point.Path
	Group string
}

// Of returns the place of a device within its group.
func (p Places) Of(device point.Path) int { return p[device].number }

// Assign returns the places of a new set of devices.
func (p Places) Assign(devices []Member) Places {
	next := make(Places, len(devices))
	taken := make(map[place]bool, len(devices))
	for _, d := range devices {
		if old, has := p[d.Path]; has && old.group == d.Group {
			next[d.Path] = old
			taken[old] = true
		}
	}
	lowest := make(map[string]int)
	for _, d := range devices {
		if _, has := next[d.Path]; has {
			continue
		}
		free := place{group: d.Group, number: lowest[d.Group]}
		for taken[free] {
			free.number++
		}
		lowest[d.Group] = free.number + 1
		next[d.Path] = free
	}
	return next
}
