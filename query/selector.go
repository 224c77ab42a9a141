package query

import (
	"context"
	"slices"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/store"
)

// selector finds the points of a query.
type selector struct {
	store   store.Store
	catalog Catalog
	limits  Limits
}

// current lists the points that have samples and have not been removed.
func (s *selector) current(ctx context.Context, sel *Selection) ([]point.Path, error) {
	all, err := s.store.Points(ctx)
	if err != nil {
		return nil, err
	}
	removed, err := s.catalog.Removed(ctx, sel.Pattern)
	if err != nil {
		return nil, err
	}
	var paths []point.Path
	for _, p := range all {
		if !sel.selects(p) {
			continue
		}
		if _, gone := slices.BinarySearch(removed, p); !gone {
			paths = append(paths, p)
		}
	}
	return paths, nil
}

// resolve returns what is known about the selected points. A pattern selects points of the catalogue,
// including removed ones, and points that only have samples; next is After for their next page.
func (s *selector) resolve(ctx context.Context, op string, sel Selection) (entries []catalog.Entry, next point.Path, err error) {
	paths := unique(sel.Points)
	if len(sel.Points) == 0 {
		if paths, err = s.matching(ctx, &sel); err != nil {
			return nil, "", err
		}
		if len(paths) == 0 && sel.After == "" {
			return nil, "", noMatch(op, sel.Pattern)
		}
		paths, next = sel.page(paths)
	}
	if len(paths) > s.limits.Points {
		return nil, "", tooMany(op, len(paths), s.limits.Points)
	}
	entries, err = s.catalog.Entries(ctx, paths)
	if err != nil || len(sel.Points) == 0 {
		return entries, next, err
	}
	return entries, "", s.exist(ctx, op, sel.local(entries))
}

// Selected returns the points of a query, as far as this node knows them: those named, or a page of a
// pattern, possibly empty. They may exceed the bound of one answer.
func (s *selector) Selected(ctx context.Context, sel Selection) ([]point.Path, error) {
	if len(sel.Points) > 0 {
		return unique(sel.Points), nil
	}
	paths, err := s.matching(ctx, &sel)
	if err != nil {
		return nil, err
	}
	paths, _ = sel.page(paths)
	return paths, nil
}

// matching returns the paths after After that the pattern selects: if there are so many, at least one more
// than a page holds, or than is permitted.
func (s *selector) matching(ctx context.Context, sel *Selection) ([]point.Path, error) {
	all, err := s.store.Points(ctx)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(all, func(p point.Path) bool { return p <= sel.After || !sel.selects(p) })
	limit := s.limits.Points
	if sel.Page > 0 {
		limit = min(limit, sel.Page)
	}
	if sel.Page == 0 && len(paths) > limit {
		return paths, nil
	}
	page, err := s.catalog.Search(ctx, catalog.Filter{Pattern: sel.Pattern, Keep: sel.Keep, Removed: true, After: sel.After, Limit: limit + 1})
	if err != nil {
		return nil, err
	}
	for i := range page.Entries {
		paths = append(paths, page.Entries[i].Path)
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}

// known returns the catalogue's entries that the pattern selects, including those of removed points.
func (s *selector) known(ctx context.Context, pattern point.Pattern) ([]catalog.Entry, error) {
	page, err := s.catalog.Search(ctx, catalog.Filter{Pattern: pattern, Removed: true, Limit: s.limits.Latest})
	switch {
	case err != nil:
		return nil, err
	case page.Next != "":
		return nil, tooMany("query.Completeness", len(page.Entries)+1, s.limits.Latest)
	case len(page.Entries) == 0:
		return nil, noMatch("query.Completeness", pattern)
	}
	return page.Entries, nil
}

// exported lists the points of an export, whose number is bounded like that of newest values.
func (s *selector) exported(ctx context.Context, req *Request) ([]point.Path, error) {
	if err := req.check("query.Export"); err != nil {
		return nil, err
	}
	paths, err := s.stored(ctx, req.Selection)
	if err != nil {
		return nil, err
	}
	if len(paths) > s.limits.Latest {
		return nil, tooMany("query.Export", len(paths), s.limits.Latest)
	}
	return paths, nil
}

// stored lists the points named, or those that the pattern selects and that have samples. It returns
// fault.NotFound for points that do not exist, even without samples.
func (s *selector) stored(ctx context.Context, sel Selection) ([]point.Path, error) {
	if len(sel.Points) > 0 {
		paths := unique(sel.Points)
		samples, err := s.store.Latest(ctx, paths)
		if err != nil {
			return nil, err
		}
		return paths, s.silent(ctx, "query.Export", &sel, paths, samples)
	}
	all, err := s.store.Points(ctx)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(slices.Clone(all), func(p point.Path) bool { return !sel.Pattern.Match(p) })
	if len(paths) > 0 {
		return paths, nil
	}
	page, err := s.catalog.Search(ctx, catalog.Filter{Pattern: sel.Pattern, Removed: true, Limit: 1})
	if err == nil && len(page.Entries) == 0 {
		err = noMatch("query.Export", sel.Pattern)
	}
	return nil, err
}
