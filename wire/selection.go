package wire

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"voltbus/point"
)

// Selection selects points of live messages: those that any of the patterns selects and Keep accepts. The
// zero value wants everything. It is safe for concurrent use if Keep is.
type Selection struct {
	Patterns []point.Pattern       // none: every point
	Keep     func(point.Path) bool // nil: every point
}

// Selects reports whether the point is wanted.
func (s *Selection) Selects(p point.Path) bool {
	if s.Keep != nil && !s.Keep(p) {
		return false
	}
	return len(s.Patterns) == 0 || slices.ContainsFunc(s.Patterns, func(pt point.Pattern) bool { return pt.Match(p) })
}

// whole reports whether every point of the device is wanted, without checking each.
func (s *Selection) whole(device point.Path) bool {
	if s.Keep != nil {
		return false
	}
	return len(s.Patterns) == 0 || slices.ContainsFunc(s.Patterns, func(pt point.Pattern) bool {
		if pt == "" || pt == "**" {
			return true
		}
		base := point.Pattern(strings.TrimSuffix(string(pt), "/**"))
		return !strings.Contains(string(base), "*") && base.Match(device)
	})
}

// FilterScan reduces the live message of a scan to the wanted points. It returns data itself if all are
// wanted, and nil if none is.
func (s *Selection) FilterScan(data []byte, device point.Path) ([]byte, error) {
	if s.whole(device) {
		return data, nil
	}
	var m struct { // the times stay unchanged
		Device  point.Path                 `json:"device"`
		Time    json.RawMessage            `json:"time"`
		Slot    json.RawMessage            `json:"slot,omitempty"`
		Points  map[string]json.RawMessage `json:"points"`
		Quality map[string]string          `json:"quality,omitempty"`
		Times   map[string]json.RawMessage `json:"times,omitempty"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("read a live message: %w", err)
	}
	kept := len(m.Points)
	for name := range m.Points {
		if !s.Selects(m.Device.Join(name)) {
			delete(m.Points, name)
			delete(m.Quality, name)
			delete(m.Times, name)
		}
	}
	switch len(m.Points) {
	case 0:
		return nil, nil
	case kept:
		return data, nil
	}
	out, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write a live message: %w", err)
	}
	return out, nil
}

// ScanSubjects returns the subjects to subscribe to for all scans that can contain a wanted point: for each
// pattern the devices at and below its literal prefix, and the prefix's ancestors, one of which may be the
// device itself. No scan matches two of them. Received scans must still be filtered.
func (s *Selection) ScanSubjects() []string {
	if len(s.Patterns) == 0 {
		return []string{ScanPrefix + ">"}
	}
	var subjects []string
	for _, pt := range s.Patterns {
		subjects = append(subjects, scanSubjects(pt)...)
	}
	slices.Sort(subjects)
	subjects = slices.Compact(subjects)
	return slices.DeleteFunc(slices.Clone(subjects), func(subject string) bool {
		return slices.ContainsFunc(subjects, func(other string) bool { return other != subject && Covers(other, subject) })
	})
}

func scanSubjects(pattern point.Pattern) []string {
	prefix := pattern.Prefix()
	if prefix == "" {
		return []string{ScanPrefix + ">"}
	}
	base := Subject(ScanPrefix, prefix)
	subjects := []string{base, base + ".>"}
	for p := prefix.Parent(); p != ""; p = p.Parent() {
		subjects = append(subjects, Subject(ScanPrefix, p))
	}
	return subjects
}
