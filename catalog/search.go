package catalog

import (
	"context"
	"math"

	"voltbus/catalog/register"
	"voltbus/point"
)

// PageSize is the number of points on a page if the filter has none.
const PageSize = register.PageSize

// Filter selects points; all its conditions must hold. The zero Filter selects all existing points.
type Filter = register.Filter

// Page is a part of an answer.
type Page = register.Page

// Search returns the points that the filter selects, in path order.
func (ps *Points) Search(ctx context.Context, f Filter) (Page, error) {
	page, err := ps.register.Search(ctx, f)
	return page, wrap("catalog.Search", File, err)
}

// Entries returns the entries of the paths, in the order requested, including removed points. An unknown path
// gives an Entry with only the path.
func (ps *Points) Entries(ctx context.Context, paths []point.Path) ([]Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, wrap("catalog.Entries", File, err)
	}
	return ps.register.Entries(paths), nil
}

// Count returns the number of existing points.
func (ps *Points) Count() int {
	all, _ := ps.register.Count()
	return all
}

// Free returns the number of points that belong to no device and no child.
func (ps *Points) Free() int {
	_, free := ps.register.Count()
	return free
}

// Paths returns paths below the prefix, or of all points if it is empty, including removed ones, in path
// order and at most limit.
func (ps *Points) Paths(ctx context.Context, prefix point.Path, limit int) ([]point.Path, error) {
	paths, err := ps.register.Paths(ctx, Filter{Below: prefix, Removed: true, Limit: limit})
	return paths, wrap("catalog.Paths", File, err)
}

// Removed returns the paths of removed points that the pattern selects, in path order.
func (ps *Points) Removed(ctx context.Context, pattern point.Pattern) ([]point.Path, error) {
	paths, err := ps.register.Paths(ctx, Filter{Pattern: pattern, Only: true, Limit: math.MaxInt})
	return paths, wrap("catalog.Removed", File, err)
}
