package sender

import (
	"slices"
	"strings"
	"time"

	"voltbus/point"
)

// Above returns where a path here lies at the parent, selected or not, as far as it is known: the prefix
// is that of the last connection. "" is where everything lies.
func (s *Sender) Above(path point.Path) point.Path {
	renames, prefix := s.naming()
	if path != "" {
		return newPaths(nil, renames, prefix).place(path)
	}
	for _, r := range renames {
		if r.From == "" {
			return r.To
		}
	}
	return prefix
}

// Sent reports whether a point is one of those that are sent, and where it lies at the parent.
func (s *Sender) Sent(path point.Path) (point.Path, bool) {
	s.mu.Lock()
	all := s.status.Shared
	s.mu.Unlock()
	return s.Above(path), all || newPaths(s.cfg.Select, nil, "").selects(path)
}

// naming returns how paths become those at the parent, as far as it is known.
func (s *Sender) naming() ([]Rename, point.Path) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.Shared {
		return nil, ""
	}
	return s.cfg.Rename, s.status.Prefix
}

// State returns how the way up is, and since when.
func (s *Sender) State() (State, time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.State, s.status.Since
}

// Below returns the paths here that lie at the path at the parent, selected or not: none, one, or one
// of several that may be meant, since paths that lie below the prefix already keep their names. The likeliest comes first.
func (s *Sender) Below(at point.Path) []point.Path {
	renames, prefix := s.naming()
	ways := []Rename{{To: prefix}, {}}
	if len(renames) > 0 {
		ways = append(slices.Clone(renames), Rename{})
	}
	names := newPaths(nil, renames, prefix)
	var list []point.Path
	for _, way := range ways {
		if !below(at, way.To) {
			continue
		}
		path := way.From
		if rest := strings.TrimPrefix(string(at[len(way.To):]), "/"); rest != "" {
			path = path.Join(rest)
		}
		if path != "" && !slices.Contains(list, path) && names.place(path) == at {
			list = append(list, path)
		}
	}
	return list
}
