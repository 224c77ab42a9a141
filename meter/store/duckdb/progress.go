package duckdb

import (
	"context"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/progress"
)

// Counting counts the intervals of a store.
type Counting struct{ *Store }

// Progress implements store.Progressive in one pass over the day's tables.
func (s Counting) Progress(ctx context.Context, d store.Day) (store.Progress, error) {
	const op = "metering.Progress"
	seen, err := s.view(ctx, op)
	if err != nil {
		return store.Progress{}, err
	}
	defer seen.give()
	sources, verdicts := s.known()
	p := progress.New(s.dir, s.calendar, d, sources, verdicts)
	if at := seen.days[d]; at != nil {
		if err := p.Read(ctx, seen.c, at); err != nil {
			return store.Progress{}, failed(op, d.String(), err)
		}
	}
	return p.Progress(), nil
}
