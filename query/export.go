package query

import (
	"context"
	"errors"
	"slices"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// Export calls emit with the samples of the range, by point and then time, however many there
// are: nothing is collected. The slice is reused after emit returns; an error from emit ends the
// export and is returned.
func (e *Engine) Export(ctx context.Context, req Request, emit func([]point.Sample) error) error {
	paths, err := e.exported(ctx, &req)
	if err != nil {
		return err
	}
	return e.store.Read(ctx, req.storeRange(paths), emit)
}

var errNoParquet = errors.New("this node's store cannot write Parquet; ask for format=csv")

// ExportParquet writes the samples of the range to a new Parquet file and returns their number.
// It returns fault.Unavailable if the store cannot do that.
func (e *Engine) ExportParquet(ctx context.Context, req Request, file string) (int64, error) {
	exporter, ok := e.store.(store.Exporter)
	if !ok {
		return 0, fault.E("query.ExportParquet", fault.Unavailable, "parquet", errNoParquet)
	}
	paths, err := e.exported(ctx, &req)
	if err != nil {
		return 0, err
	}
	return exporter.ExportParquet(ctx, req.storeRange(paths), file)
}

// exported lists the points of an export, whose number is bounded like that of newest values.
func (e *Engine) exported(ctx context.Context, req *Request) ([]point.Path, error) {
	if err := req.check("query.Export"); err != nil {
		return nil, err
	}
	paths, err := e.stored(ctx, req.Selection)
	if err != nil {
		return nil, err
	}
	if len(paths) > e.limits.Latest {
		return nil, tooMany("query.Export", len(paths), e.limits.Latest)
	}
	return paths, nil
}

// stored lists the points named, or those that the pattern selects and that have samples. It
// returns fault.NotFound for what does not exist, also without samples.
func (e *Engine) stored(ctx context.Context, sel Selection) ([]point.Path, error) {
	if len(sel.Points) > 0 {
		paths := unique(sel.Points)
		samples, err := e.store.Latest(ctx, paths)
		if err != nil {
			return nil, err
		}
		return paths, e.silent(ctx, "query.Export", &sel, paths, samples)
	}
	all, err := e.store.Points(ctx)
	if err != nil {
		return nil, err
	}
	paths := slices.DeleteFunc(slices.Clone(all), func(p point.Path) bool { return !sel.Pattern.Match(p) })
	if len(paths) > 0 {
		return paths, nil
	}
	page, err := e.catalog.Search(ctx, catalog.Filter{Pattern: sel.Pattern, Removed: true, Limit: 1})
	if err == nil && len(page.Entries) == 0 {
		err = noMatch("query.Export", sel.Pattern)
	}
	return nil, err
}
