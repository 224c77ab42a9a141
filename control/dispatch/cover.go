package dispatch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// directory holds the known points, and finds what may be meant by a path that is not among them.
type directory struct {
	points map[point.Path]Point
	sorted []point.Path // their paths
}

// maxAlike is how many paths that may have been meant are suggested.
const maxAlike = 3

// covering refuses a pattern, or the path of a reservation, that selects no point.
func (d *directory) covering(pattern point.Pattern) *fault.Error {
	if pattern == "" || slices.ContainsFunc(d.sorted, pattern.Match) {
		return nil
	}
	text := fmt.Sprintf("no point matches %.200q; ", pattern) + d.instead(pattern)
	return fault.E("dispatch.covering", fault.NotFound, string(pattern), errors.New(text))
}

func nothingCovered(err *fault.Error) control.Decision {
	return control.Decision{Status: control.Refused, Why: control.WhyUnknown, Err: err}
}

// instead suggests what may have been meant by a path or pattern without a point, or how to list the points nearby.
func (d *directory) instead(pattern point.Pattern) string {
	if alike := d.alike(pattern); len(alike) > 0 {
		return "did you mean " + strings.Join(alike, " or ") + "?"
	}
	below := point.Pattern("**")
	for at := point.Path(pattern).Parent(); at != "" && below == "**"; at = at.Parent() {
		if near := point.Pattern(at.Join("**")); !strings.ContainsAny(string(at), "'*") && slices.ContainsFunc(d.sorted, near.Match) {
			below = near
		}
	}
	return fmt.Sprintf("list those that are with: voltbus points '%s'", below)
}

// alike returns what may have been meant by a pattern that selects nothing: the same in another case,
// otherwise the devices with the most similar paths.
func (d *directory) alike(pattern point.Pattern) []string {
	folded := point.Pattern(strings.ToLower(string(pattern)))
	var found []string
	for _, path := range d.sorted {
		if folded.Match(point.Path(strings.ToLower(string(path)))) {
			if found = append(found, strconv.Quote(string(path))); len(found) == maxAlike {
				return found
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	if found = d.beside(point.Path(folded)); len(found) > 0 {
		return found
	}
	plain := strings.Trim(strings.TrimSuffix(string(folded), "**"), "/")
	devices := make(map[string]int)
	for _, p := range d.points {
		if _, known := devices[string(p.Device)]; !known {
			devices[string(p.Device)] = distance(plain, strings.ToLower(string(p.Device)))
		}
	}
	for _, name := range nearest(devices) {
		if devices[name] <= max(2, len(plain)/4) {
			found = append(found, strconv.Quote(name))
		}
	}
	return found
}

// beside returns the points of the same parent with similar names. The path is in lower case.
func (d *directory) beside(path point.Path) []string {
	parent, name := string(path.Parent()), path.Name()
	near := make(map[string]int)
	for _, p := range d.sorted {
		if !strings.EqualFold(string(p.Parent()), parent) {
			continue
		}
		if n := distance(name, strings.ToLower(p.Name())); n <= max(1, len(name)/4) {
			near[string(p)] = n
		}
	}
	var found []string
	for _, p := range nearest(near) {
		found = append(found, strconv.Quote(p))
	}
	return found
}

// nearest returns the strings with the smallest distance, at most maxAlike.
func nearest(distances map[string]int) []string {
	names := slices.SortedFunc(maps.Keys(distances), func(a, b string) int {
		return cmp.Or(distances[a]-distances[b], strings.Compare(a, b))
	})
	return names[:min(len(names), maxAlike)]
}

// maxCompared bounds the length of strings whose distance is computed.
const maxCompared = 100

// distance is the edit distance of two strings; strings that are too long count as far apart.
func distance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return maxCompared
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
