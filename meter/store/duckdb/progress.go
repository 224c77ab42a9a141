package duckdb

import (
	"context"
	"io"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb/parquet"
	"voltbus/meter/store/duckdb/progress"
)

// Counting counts the intervals of a store, and makes files of its readings.
type Counting struct{ *Store }

// Parquet has fill write a table of readings as CSV, and writes it to w as a Parquet file.
func (s Counting) Parquet(ctx context.Context, fill func(io.Writer) error, w io.Writer) error {
	return parquet.Write(ctx, s.options.Dir, func(ctx context.Context, statement string) error {
		seen, err := s.view(ctx, "metering.Parquet")
		if err != nil {
			return err
		}
		defer seen.give()
		return seen.c.Exec(ctx, statement)
	}, fill, w)
}

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
