package sender

import (
	"strings"

	"voltbus/point"
)

// maxKnown bounds the paths whose way is remembered.
const maxKnown = 1 << 20

// paths says which points are sent, and under which name. It is not safe for concurrent use.
type paths struct {
	selected []point.Pattern
	renames  []Rename
	prefix   point.Path
	known    map[point.Path]point.Path // "" for one that is left out
}

func newPaths(selected []point.Pattern, renames []Rename, prefix point.Path) *paths {
	return &paths{selected: selected, renames: renames, prefix: prefix, known: map[point.Path]point.Path{}}
}

// clone returns the same for another goroutine.
func (p *paths) clone() *paths { return newPaths(p.selected, p.renames, p.prefix) }

// of returns the path under which the parent gets a point; "" if it does not.
func (p *paths) of(path point.Path) point.Path {
	if to, ok := p.known[path]; ok {
		return to
	}
	if len(p.known) >= maxKnown {
		clear(p.known)
	}
	path = point.Path(strings.Clone(string(path))) // it may lie in the memory of a block
	to := p.find(path)
	p.known[path] = to
	return to
}

func (p *paths) find(path point.Path) point.Path {
	if !p.selects(path) {
		return ""
	}
	return p.place(path)
}

// place returns where a path lies at the parent, selected or not.
func (p *paths) place(path point.Path) point.Path {
	if len(p.renames) == 0 {
		if below(path, p.prefix) {
			return path
		}
		return p.prefix.Join(string(path))
	}
	best := -1
	for i, r := range p.renames {
		if below(path, r.From) && (best < 0 || len(r.From) > len(p.renames[best].From)) {
			best = i
		}
	}
	if best < 0 {
		return path
	}
	r := p.renames[best]
	if r.From == "" {
		return r.To.Join(string(path))
	}
	rest := path[len(r.From):] // "" or begins with a slash
	if r.To == "" {
		return point.Path(strings.TrimPrefix(string(rest), "/"))
	}
	return r.To + rest
}

func (p *paths) selects(path point.Path) bool {
	for _, pattern := range p.selected {
		if pattern.Match(path) {
			return true
		}
	}
	return len(p.selected) == 0
}

// below reports whether the path is the place or lies below it. Everything lies below "".
func below(path, place point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(place))
	return found && (place == "" || rest == "" || rest[0] == '/')
}
