package sender

import (
	"slices"
	"strings"

	"voltbus/point"
	"voltbus/uplink"
)

// Above returns the path at the parent of a local path, selected or not, as far as known: the prefix is that
// of the last connection. "" is the root.
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

// Sent reports whether a point is sent, and its path at the parent.
func (s *Sender) Sent(path point.Path) (point.Path, bool) {
	_, all := s.monitor.parent()
	return s.Above(path), all || newPaths(s.cfg.Select, uplink.Naming{}).selects(path)
}

// Naming returns the mapping of paths to those at the parent, as far as known.
func (s *Sender) Naming() uplink.Naming {
	prefix, shared := s.monitor.parent()
	if shared {
		return uplink.Naming{}
	}
	return uplink.Naming{Renames: s.cfg.Rename, Prefix: prefix}
}

// Below returns the local paths that correspond to a path at the parent, selected or not: none, one, or several
// candidates, since paths already below the prefix keep their names. The likeliest comes first.
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
