package overlay

import (
	"context"

	"voltbus/point"
	"voltbus/store"
)

// exporting is a Store over one that writes Parquet files.
type exporting struct {
	*Store
	base store.MixedExporter
}

var _ store.Exporter = (*exporting)(nil)

// ExportParquet implements store.Exporter.
func (s *exporting) ExportParquet(ctx context.Context, r store.Range, file string) (int64, error) {
	added := make(map[point.Path][]point.Sample)
	for _, p := range r.Points {
		if list := between(s.added[p], r.From, r.To); len(list) > 0 {
			added[p] = list
		}
	}
	return s.base.ExportMixed(ctx, r, added, file)
}
