package query

import (
	"context"
	"errors"

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
