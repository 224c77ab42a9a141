package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
)

// Bounds of the search for the intended name.
const (
	maxHints       = 3
	maxHintPath    = 200    // maximum length of a compared path
	maxHintNear    = 20_000 // points of the catalogue compared below the same parent
	maxHintAll     = 50_000 // and in total
	maxComparisons = 5000
)

var errNoPoints = errors.New("there are no points yet")

// exist returns fault.NotFound if one of the paths is neither in the catalogue nor in the store.
func (s *selector) exist(ctx context.Context, op string, entries []catalog.Entry) error {
	var unlisted []point.Path
	for i := range entries {
		if entries[i].FirstSeen.IsZero() {
			unlisted = append(unlisted, entries[i].Path)
		}
	}
	if len(unlisted) == 0 {
		return nil
	}
	samples, err := s.store.Latest(ctx, unlisted)
	if err != nil {
		return err
	}
	unlisted = without(unlisted, samples)
	if len(unlisted) == 0 {
		return nil
	}
	stored, err := s.store.Points(ctx) // in path order
	if err != nil {
		return err
	}
	for _, p := range unlisted {
		if _, ok := slices.BinarySearch(stored, p); !ok {
			return s.noSuchPoint(ctx, op, p, stored)
		}
	}
	return nil
}

// silent returns fault.NotFound if a path without a sample does not exist at all.
func (s *selector) silent(ctx context.Context, op string, sel *Selection, paths []point.Path, samples []point.Sample) error {
	quiet := without(paths, samples)
	if len(quiet) == 0 {
		return nil
	}
	entries, err := s.catalog.Entries(ctx, quiet)
	if err != nil {
		return err
	}
	return s.exist(ctx, op, sel.local(entries))
}

// local returns the entries of points that must be known to this node.
func (s *Selection) local(entries []catalog.Entry) []catalog.Entry {
	if s.Elsewhere == nil {
		return entries
	}
	return slices.DeleteFunc(slices.Clone(entries), func(e catalog.Entry) bool { return s.Elsewhere(e.Path) })
}

// without lists the paths that have no sample at their index.
func without(paths []point.Path, samples []point.Sample) []point.Path {
	var list []point.Path
	for i, p := range paths {
		if samples[i].Point == "" {
			list = append(list, p)
		}
	}
	return list
}

// noSuchPoint suggests points that may have been meant.
func (s *selector) noSuchPoint(ctx context.Context, op string, p point.Path, stored []point.Path) error {
	hints, err := s.hints(ctx, p, stored)
	if err != nil {
		return err
	}
	return fault.E(op, fault.NotFound, string(p), errors.New("there is no such point"+question(hints)))
}

// question formats the question whether one of the paths was meant.
func question(hints []point.Path) string {
	quoted := make([]string, len(hints))
	for i, h := range hints {
		quoted[i] = strconv.Quote(string(h))
	}
	switch last := len(quoted) - 1; last {
	case -1:
		return ""
	case 0:
		return "; did you mean " + quoted[0] + "?"
	default:
		return "; did you mean " + strings.Join(quoted[:last], ", ") + " or " + quoted[last] + "?"
	}
}

func (s *selector) hints(ctx context.Context, p point.Path, stored []point.Path) ([]point.Path, error) {
	near, err := s.catalog.Paths(ctx, p.Parent(), maxHintNear)
	if err != nil {
		return nil, err
	}
	all, err := s.catalog.Paths(ctx, "", maxHintAll)
	if err != nil {
		return nil, err
	}
	return nearest(p, near, stored, all), nil
}

// noMatch is the error about a pattern that selects nothing.
func noMatch(op string, pattern point.Pattern) error {
	if pattern == "" || pattern == "**" {
		return fault.E(op, fault.NotFound, "pattern", errNoPoints)
	}
	return fault.E(op, fault.NotFound, "pattern", fmt.Errorf(
		"no point matches %.200q; * stands for a part of a name, ** for any number of names", pattern))
}

// hint is a point that may have been meant, and how many characters differ.
type hint struct {
	path     point.Path
	distance int
}

// guess looks for the paths most similar to one, ignoring case.
type guess struct {
	path   point.Path
	parent point.Path
	name   string
	seen   map[point.Path]bool
	best   []hint // most similar first
}

// nearest returns the paths most similar to p, most similar first: those with the same parent and similar
// names, and those with the same name below other parents.
func nearest(p point.Path, lists ...[]point.Path) []point.Path {
	g := &guess{path: p, parent: p.Parent(), name: p.Name(), seen: map[point.Path]bool{p: true}}
	for _, list := range lists {
		for _, c := range list {
			g.consider(c)
		}
	}
	paths := make([]point.Path, len(g.best))
	for i := range g.best {
		paths[i] = g.best[i].path
	}
	return paths
}

func (g *guess) consider(c point.Path) {
	parent, name := c.Parent(), c.Name()
	if parent != g.parent && name != g.name {
		return
	}
	if len(c) > maxHintPath || len(g.path) > maxHintPath || len(g.seen) > maxComparisons || g.seen[c] {
		return
	}
	g.seen[c] = true
	if parent == g.parent {
		g.insert(c, g.name, name, max(2, utf8.RuneCountInString(g.name)/2))
	} else {
		g.insert(c, string(g.parent), string(parent), maxHintPath)
	}
}

// insert inserts c in order if it is among the best and a differs from b by at most most characters.
func (g *guess) insert(c point.Path, a, b string, most int) {
	if len(g.best) == maxHints {
		most = min(most, g.best[maxHints-1].distance)
	}
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if max(len(x)-len(y), len(y)-len(x)) > most {
		return
	}
	h := hint{c, distance(x, y)}
	if h.distance > most {
		return
	}
	at, _ := slices.BinarySearchFunc(g.best, h, func(a, b hint) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.path, b.path))
	})
	g.best = slices.Insert(g.best, at, h)
	g.best = g.best[:min(len(g.best), maxHints)]
}

// distance returns how many characters must be inserted, removed or changed to turn a into b.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range b {
			change := diagonal
			if x != y {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
