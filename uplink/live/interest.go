package live

import (
	"slices"
	"strings"

	"voltbus/point"
	"voltbus/wire"
)

// Bounds of what one end of a link requests from the other.
const (
	MaxSubjects = 256 // more are reduced to fewer, wider ones
	maxReduced  = 512 // up to so many are compared with each other
)

// heads are the tokens before the path in a subject; * stands for the sender of a free message.
func heads() [][]string {
	return [][]string{tokens(wire.ScanPrefix), tokens(wire.PointPrefix), {strings.TrimSuffix(wire.MessagePrefix, "."), "*"}}
}

func tokens(prefix string) []string { return strings.Split(strings.TrimSuffix(prefix, "."), ".") }

// Within returns the part of the subjects at or below a place, renamed as if that place were moved elsewhere.
// Subjects of anything but live and free messages are omitted.
func Within(subjects []string, from, to point.Path) []string {
	at, onto := place(from), place(to)
	var out []string
	for _, subject := range subjects {
		parts := strings.Split(subject, ".")
		for _, head := range heads() {
			begin, rest := cutHead(parts, head)
			if rest == nil {
				continue
			}
			for _, path := range graft(rest, at, onto) {
				out = append(out, strings.Join(slices.Concat(begin, path), "."))
			}
		}
	}
	return out
}

// place returns the tokens of a path; none for "".
func place(path point.Path) []string {
	if path == "" {
		return nil
	}
	return strings.Split(wire.Subject("", path), ".")
}

// cutHead returns the part of a pattern that matches a head, and the part for the path after it; nil if it
// matches no subject with that head.
func cutHead(parts, head []string) (begin, rest []string) {
	begin = slices.Clone(head)
	for i, h := range head {
		switch {
		case i >= len(parts):
			return nil, nil
		case parts[i] == ">":
			return begin, parts[i:]
		case h == "*":
			begin[i] = parts[i]
		case parts[i] != "*" && parts[i] != h:
			return nil, nil
		}
	}
	if len(parts) == len(head) {
		return nil, nil
	}
	return begin, parts[len(head):]
}

// graft returns the patterns of the paths that match rest and lie at or below a place, moved elsewhere.
func graft(rest, at, onto []string) [][]string {
	for i, token := range at {
		if i >= len(rest) {
			return nil
		}
		if rest[i] == ">" { // the place itself, and everything under it
			all := [][]string{slices.Concat(onto, []string{">"})}
			if len(onto) > 0 {
				all = append(all, onto)
			}
			return all
		}
		if rest[i] != "*" && rest[i] != token {
			return nil
		}
	}
	path := slices.Concat(onto, rest[len(at):])
	if len(path) == 0 {
		return nil
	}
	return [][]string{path}
}

// Reduce returns at most most sorted subjects, none of which covers another, that match everything that the given
// ones match. If there are too many, the deepest are widened: then unwanted messages are sent as well.
func Reduce(subjects []string, most int) []string {
	out := tidy(subjects)
	keep := 0 // tokens before a >
	for _, s := range out {
		keep = max(keep, 1+strings.Count(s, "."))
	}
	for len(out) > max(most, 1) && keep > 2 {
		keep--
		for i, s := range out {
			if parts := strings.Split(strings.TrimSuffix(s, ".>"), "."); len(parts) > keep {
				out[i] = strings.Join(parts[:keep], ".") + ".>"
			}
		}
		out = tidy(out)
	}
	if len(out) <= max(most, 3) {
		return out
	}
	for i, s := range out {
		if strings.HasPrefix(s, wire.MessagePrefix) {
			out[i] = wire.MessagePrefix + "*.>"
		}
	}
	return tidy(out)
}

// tidy sorts subjects, and omits those covered by another one, if they are few enough to compare.
func tidy(subjects []string) []string {
	out := slices.Clone(subjects)
	slices.Sort(out)
	out = slices.Compact(out)
	if len(out) > maxReduced {
		return out
	}
	all := slices.Clone(out)
	return slices.DeleteFunc(out, func(s string) bool {
		return slices.ContainsFunc(all, func(other string) bool { return other != s && wire.Covers(other, s) })
	})
}

// matches reports whether one of the subjects matches a literal one.
func matches(subjects []string, literal string) bool {
	return slices.ContainsFunc(subjects, func(s string) bool { return wire.Covers(s, literal) })
}

// includes reports whether wide covers all of narrow.
func includes(wide, narrow []string) bool {
	for _, n := range narrow {
		if !matches(wide, n) {
			return false
		}
	}
	return true
}
