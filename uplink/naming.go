package uplink

import (
	"strings"

	"voltbus/point"
)

// Rename moves the points of one place to another.
type Rename struct{ From, To point.Path }

// Naming tells where the points of a child lie at its parent. The zero value moves none.
type Naming struct {
	Renames []Rename   // the longest matching From applies
	Prefix  point.Path // without renames, points not already below it are moved below it
}

// Place returns where a path lies at the parent.
func (n *Naming) Place(path point.Path) point.Path {
	if len(n.Renames) == 0 {
		if Below(path, n.Prefix) {
			return path
		}
		return n.Prefix.Join(string(path))
	}
	best := -1
	for i, r := range n.Renames {
		if Below(path, r.From) && (best < 0 || len(r.From) > len(n.Renames[best].From)) {
			best = i
		}
	}
	if best < 0 {
		return path
	}
	r := n.Renames[best]
	if r.From == "" {
		return r.To.Join(string(path))
	}
	rest := path[len(r.From):] // "" or begins with a slash
	if r.To == "" {
		return point.Path(strings.TrimPrefix(string(rest), "/"))
	}
	return r.To + rest
}

// Splits reports whether the points below a path go to several places.
func (n *Naming) Splits(path point.Path) bool {
	for _, r := range n.Renames {
		if r.From != path && Below(r.From, path) {
			return true
		}
	}
	return len(n.Renames) == 0 && path != n.Prefix && Below(n.Prefix, path)
}

// Ways returns the possible mappings of paths to those at the parent, each as a Rename.
func (n *Naming) Ways() []Rename {
	if len(n.Renames) > 0 {
		return append(append([]Rename(nil), n.Renames...), Rename{})
	}
	return []Rename{{To: n.Prefix}, {}}
}

// Below reports whether the path is at or below the place. Everything is below "".
func Below(path, place point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(place))
	return found && (place == "" || rest == "" || rest[0] == '/')
}
