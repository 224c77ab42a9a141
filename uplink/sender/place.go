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
	s.mu.Lock()
	prefix := s.status.Prefix
	s.mu.Unlock()
	if path != "" {
		return newPaths(nil, s.cfg.Rename, prefix).place(path)
	}
	for _, r := range s.cfg.Rename {
		if r.From == "" {
			return r.To
		}
	}
	return prefix
}

// Sent reports whether a point is one of those that are sent, and where it lies at the parent.
func (s *Sender) Sent(path point.Path) (point.Path, bool) {
	return s.Above(path), newPaths(s.cfg.Select, nil, "").selects(path)
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
	s.mu.Lock()
	prefix := s.status.Prefix
	s.mu.Unlock()
	ways := []Rename{{To: prefix}, {}}
	if len(s.cfg.Rename) > 0 {
		ways = append(slices.Clone(s.cfg.Rename), Rename{})
	}
	names := newPaths(nil, s.cfg.Rename, prefix)
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
