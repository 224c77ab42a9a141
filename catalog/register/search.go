package register

import (
	"context"
	"slices"

	"voltbus/point"
)

// PageSize is the number of points on a page if the filter has none.
const PageSize = 1000

// Filter selects points; all its conditions must hold. The zero Filter selects all existing points.
type Filter struct {
	Pattern point.Pattern
	Text    string                // words, each somewhere in the path, description or unit, case-insensitively
	Tags    map[string]string     // each must exist with this value; "" for any value
	Unit    string                // "" for any
	Device  point.Path            // "" for any
	Below   point.Path            // only points below it; "" for everything
	Removed bool                  // include removed points
	Only    bool                  // only removed points
	Keep    func(point.Path) bool // only points that it accepts; nil for all
	After   point.Path            // only points after it in path order: Next of the previous page
	Limit   int                   // maximum entries; 0 for PageSize
}

// Page is a part of an answer.
type Page struct {
	Entries []Entry
	Next    point.Path // After for the next page; "" on the last
}

// atOnce is how many points are examined before writers may change the register.
const atOnce = 1 << 14

// Search returns the points that the filter selects, in path order. Points added meanwhile may be missing. It
// fails with the context's error.
func (r *Register) Search(ctx context.Context, f Filter) (Page, error) {
	if f.Limit <= 0 {
		f.Limit = PageSize
	}
	limit := f.Limit
	f.Limit++ // one more reveals another page
	found, err := r.find(ctx, &f)
	if err != nil {
		return Page{}, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var page Page
	if len(found) > limit {
		found = found[:limit]
		page.Next = r.Path(found[limit-1])
	}
	tags := map[string]map[string]string{}
	for _, n := range found {
		page.Entries = append(page.Entries, r.entry(n, tags))
	}
	return page, nil
}

// Paths returns the paths that the filter selects, as Search does.
func (r *Register) Paths(ctx context.Context, f Filter) ([]point.Path, error) {
	found, err := r.find(ctx, &f)
	if err != nil {
		return nil, err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	var paths []point.Path
	for _, n := range found {
		paths = append(paths, r.Path(n))
	}
	return paths, nil
}

// find returns the numbers of the points, in path order.
func (r *Register) find(ctx context.Context, f *Filter) ([]uint32, error) {
	var runs [][]uint32
	r.Read(func() { runs = slices.Clone(r.order.runs) })
	m := newMatcher(r, f)
	var found []uint32
	for _, run := range runs {
		some, err := m.scan(ctx, run)
		if err != nil {
			return nil, err
		}
		r.Read(func() { found = merge(r.names, found, some) })
		found = found[:min(len(found), f.Limit)]
	}
	return found, nil
}

// scan returns the points of a run that match, as many as the filter wants.
func (m *matcher) scan(ctx context.Context, run []uint32) ([]uint32, error) {
	var found []uint32
	m.register.Read(func() { run = m.within(run) })
	for len(run) > 0 && len(found) < m.filter.Limit {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		some := run[:min(len(run), atOnce)]
		m.register.Read(func() { found = m.pick(found, some) })
		run = run[len(some):]
	}
	return found, nil
}

// pick appends those of the numbers that match, as many as the filter wants.
func (m *matcher) pick(found, some []uint32) []uint32 {
	for _, n := range some {
		if m.match(n) {
			if found = append(found, n); len(found) == m.filter.Limit {
				break
			}
		}
	}
	return found
}

// within returns the part of a run after After and below the pattern's prefix.
func (m *matcher) within(run []uint32) []uint32 {
	names := m.register.names
	prefix := string(m.filter.Pattern.Prefix())
	if prefix != "" {
		// "0" is the byte behind "/": the range contains the prefix itself and everything below it, and little else.
		run = run[:len(run)-len(from(names, run, prefix+"0"))]
		run = from(names, run, prefix)
	}
	if below := string(m.filter.Below); below != "" {
		run = run[:len(run)-len(from(names, run, below+"0"))]
		run = from(names, run, below+"/\x00")
	}
	if after := string(m.filter.After); after != "" {
		run = from(names, run, after+"\x00") // the smallest text after it
	}
	return run
}
