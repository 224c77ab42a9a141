package duckdb

import (
	"context"

	"voltbus/meter/store/duckdb/sqlview"
)

// Statements shows a store to the statements of people.
type Statements = sqlview.Source

// StatementsOf returns what shows a store.
func StatementsOf(s *Store) *Statements {
	const op = "metering.SQL"
	return &Statements{
		Shown: s.shown,
		Look: func(ctx context.Context) (*sqlview.Seen, func(), error) {
			v, err := s.view(ctx, op)
			if err != nil {
				return nil, nil, err
			}
			sources, _ := s.known()
			return &sqlview.Seen{Conn: v.c, Dir: s.dir, Calendar: s.calendar, Days: v.days, Sources: sources}, v.give, nil
		},
		Fail: func(err error) error { return failed(op, s.options.Dir, err) },
	}
}
