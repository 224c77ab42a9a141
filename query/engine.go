// Package query answers queries of the history: newest values, ranges, aggregates, and the data of plots. Every answer says how complete
// it is.
package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// Catalog provides what an Engine needs to know about points.
type Catalog interface {
	// Search returns the points that the filter selects, in path order.
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
	// Entries returns the entries of the paths, in the order requested.
	Entries(ctx context.Context, paths []point.Path) ([]catalog.Entry, error)
	// Paths returns paths below the prefix, "" for all, including removed points, in path order and at most
	// limit.
	Paths(ctx context.Context, prefix point.Path, limit int) ([]point.Path, error)
	// Removed returns the removed points that the pattern selects, in path order.
	Removed(ctx context.Context, pattern point.Pattern) ([]point.Path, error)
}

// Limits bound one answer, and with it the memory that it takes.
type Limits struct {
	Points  int // maximum points of a range, plot or summary
	Latest  int // maximum points of an answer with newest values
	Samples int // maximum samples or buckets
	Scan    int // maximum samples that one answer reads, as estimated from the intervals
}

// DefaultLimits suit a node with 100 MB to spare.
func DefaultLimits() Limits {
	return Limits{Points: 2000, Latest: 200_000, Samples: 500_000, Scan: 300_000_000}
}

// Engine answers queries. It has no state and is safe for concurrent use. Its methods return fault.Invalid
// for a query that is wrong or too large, with a suggestion, fault.NotFound for a named point that neither
// the catalogue nor the store knows, and the store's and the catalogue's errors. All but Latest return
// fault.NotFound too if a pattern selects nothing.
type Engine struct {
	selector
	now func() time.Time
}

// New returns an engine over the store and the catalogue. now is the clock, such as time.Now.
func New(s store.Store, c Catalog, limits Limits, now func() time.Time) *Engine {
	return &Engine{selector: selector{store: s, catalog: c, limits: limits}, now: now}
}

// Selection names points: those listed or, if there are none, those that the pattern selects.
type Selection struct {
	Points  []point.Path
	Pattern point.Pattern
	Keep    func(point.Path) bool // filters the points of a pattern; nil for all

	// Elsewhere reports whether a named point may be known to another node: it is then no error if this node
	// does not know it. nil for none.
	Elsewhere func(point.Path) bool

	// Page is how many points of a pattern one answer covers, 0 for all; After is Next of the previous page,
	// "" for the first. They do not apply to Latest, exports and plots.
	Page  int
	After point.Path
}

// selects reports whether the pattern selects the point and Keep accepts it.
func (s *Selection) selects(p point.Path) bool {
	return s.Pattern.Match(p) && (s.Keep == nil || s.Keep(p))
}

// page returns the selection's page of the sorted paths after After, and After for the next page.
func (s *Selection) page(paths []point.Path) (page []point.Path, next point.Path) {
	if s.Page == 0 || len(paths) <= s.Page {
		return paths, ""
	}
	return paths[:s.Page], paths[s.Page-1]
}

// Request requests the samples of points with From ≤ time < To.
type Request struct {
	Selection
	From   time.Time
	To     time.Time
	Limit  int  // maximum samples per point; 0 for all
	Newest bool // with Limit: the newest ones instead of the oldest
}

func (r *Request) storeRange(points []point.Path) store.Range {
	return store.Range{Points: points, From: r.From, To: r.To, Limit: r.Limit, Newest: r.Newest}
}

var (
	errNothing = errors.New("must lie before to; exchange them, or ask for a longer time")
	errLimit   = errors.New("must not be negative; 0 asks for everything")
)

func (r *Request) check(op string) error {
	switch {
	case !r.From.Before(r.To):
		return fault.E(op, fault.Invalid, "from", errNothing)
	case r.Limit < 0:
		return fault.E(op, fault.Invalid, "limit", errLimit)
	}
	return nil
}

// Latest returns the newest sample of each selected point that has any, in the order requested or in path
// order. Patterns exclude removed points.
func (e *Engine) Latest(ctx context.Context, sel Selection) ([]point.Sample, error) {
	paths := unique(sel.Points)
	if len(sel.Points) == 0 {
		var err error
		if paths, err = e.current(ctx, &sel); err != nil {
			return nil, err
		}
	}
	if len(paths) > e.limits.Latest {
		return nil, tooMany("query.Latest", len(paths), e.limits.Latest)
	}
	samples, err := e.store.Latest(ctx, paths)
	if err != nil {
		return nil, err
	}
	if len(sel.Points) > 0 {
		if err := e.silent(ctx, "query.Latest", &sel, paths, samples); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(samples, func(s point.Sample) bool { return s.Point == "" }), nil
}

func tooMany(op string, n, most int) error {
	return fault.E(op, fault.Invalid, "points", fmt.Errorf(
		"%d points or more are selected and %d may be; use a narrower pattern or ask in pages", n, most))
}

// unique drops repeated paths and keeps the order.
func unique(paths []point.Path) []point.Path {
	seen := make(map[point.Path]bool, len(paths))
	return slices.DeleteFunc(slices.Clone(paths), func(p point.Path) bool {
		again := seen[p]
		seen[p] = true
		return again
	})
}
