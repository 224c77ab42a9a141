package sender

import (
	"slices"
	"strings"

	"voltbus/point"
	"voltbus/uplink"
)

// Above returns where a path here lies at the parent, selected or not, as far as it is known: the prefix
// is that of the last connection. "" is where everything lies.
func (s *Sender) Above(path point.Path) point.Path {
	names := s.Naming()
	if path != "" {
		return names.Place(path)
	}
	for _, r := range names.Renames {
		if r.From == "" {
			return r.To
		}
	}
	return names.Prefix
}

// Sent reports whether a point is one of those that are sent, and where it lies at the parent.
func (s *Sender) Sent(path point.Path) (point.Path, bool) {
	_, all := s.monitor.parent()
	return s.Above(path), all || newPaths(s.cfg.Select, uplink.Naming{}).selects(path)
}

// Naming returns how paths become those at the parent, as far as it is known.
func (s *Sender) Naming() uplink.Naming {
	prefix, shared := s.monitor.parent()
	if shared {
		return uplink.Naming{}
	}
	return uplink.Naming{Renames: s.cfg.Rename, Prefix: prefix}
}

// Below returns the paths here that lie at the path at the parent, selected or not: none, one, or one
// of several that may be meant, since paths that lie below the prefix already keep their names. The likeliest comes first.
func (s *Sender) Below(at point.Path) []point.Path {
	names := s.Naming()
	var list []point.Path
	for _, way := range names.Ways() {
		if !uplink.Below(at, way.To) {
			continue
		}
		path := way.From
		if rest := strings.TrimPrefix(string(at[len(way.To):]), "/"); rest != "" {
			path = path.Join(rest)
		}
		if path != "" && !slices.Contains(list, path) && names.Place(path) == at {
			list = append(list, path)
		}
	}
	return list
}
