package sender

import (
	"strings"

	"voltbus/point"
	"voltbus/uplink"
)

// maxKnown bounds the cached paths.
const maxKnown = 1 << 20

// paths decides which points are sent, and under which name. It is not safe for concurrent use.
type paths struct {
	uplink.Naming
	selected []point.Pattern
	known    map[point.Path]point.Path // "" for one that is left out
}

func newPaths(selected []point.Pattern, names uplink.Naming) *paths {
	return &paths{Naming: names, selected: selected, known: map[point.Path]point.Path{}}
}

// clone returns a copy for another goroutine.
func (p *paths) clone() *paths { return newPaths(p.selected, p.Naming) }

// of returns the path under which a point is sent to the parent; "" if it is not sent.
func (p *paths) of(path point.Path) point.Path {
	if to, ok := p.known[path]; ok {
		return to
	}
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	path = point.Path(strings.Clone(string(path))) // it may be part of a block's memory
	to := p.find(path)
	p.known[path] = to
	return to
}

// unnamed returns the path itself, for points sent under their own name; "" if it is not selected.
func (p *paths) unnamed(path point.Path) point.Path {
	if !p.selects(path) {
		return ""
	}
	return path
}

func (p *paths) find(path point.Path) point.Path {
	if !p.selects(path) {
		return ""
	}
	return p.Place(path)
}

func (p *paths) selects(path point.Path) bool {
	for _, pattern := range p.selected {
		if pattern.Match(path) {
			return true
		}
	}
	return len(p.selected) == 0
}
