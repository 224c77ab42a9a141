package uplink

import (
	"strings"

	"voltbus/point"
)

// Rename puts the points of one place into another.
type Rename struct{ From, To point.Path }

// Naming says where the points of a child lie at its parent. The zero value leaves all where they are.
type Naming struct {
	Renames []Rename   // the longest From that fits counts
	Prefix  point.Path // without renames, what does not lie below it already is put below it
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

// Splits reports whether what lies below a path is put into several places.
func (n *Naming) Splits(path point.Path) bool {
	for _, r := range n.Renames {
		if r.From != path && Below(r.From, path) {
			return true
		}
	}
	return len(n.Renames) == 0 && path != n.Prefix && Below(n.Prefix, path)
}

// Ways returns how paths may become those at the parent: each as a Rename.
func (n *Naming) Ways() []Rename {
	if len(n.Renames) > 0 {
		return append(append([]Rename(nil), n.Renames...), Rename{})
	}
	return []Rename{{To: n.Prefix}, {}}
}

// Below reports whether the path is the place or lies below it. Everything lies below "".
func Below(path, place point.Path) bool {
	rest, found := strings.CutPrefix(string(path), string(place))
	return found && (place == "" || rest == "" || rest[0] == '/')
}
