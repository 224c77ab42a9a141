package duckdb

import (
	"context"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// Positions implements store.Store.
func (s *queries) Positions(ctx context.Context) (map[string]store.Position, error) {
	if err := s.Usable(ctx, "duckdb.Positions"); err != nil {
		return nil, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.ledger.Positions(), nil
}

// Cursor implements store.Store.
func (s *queries) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	if err := s.Usable(ctx, "duckdb.Cursor"); err != nil {
		return "", 0, err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	c := s.ledger.Cursor()
	return c.Log, c.Sequence, nil
}

// Gaps implements store.Store.
func (s *queries) Gaps(ctx context.Context, limit int) ([]store.Gap, error) {
	c, err := s.Borrow(ctx, "duckdb.Gaps")
	if err != nil {
		return nil, err
	}
	defer s.GiveBack(c)
	var gaps []store.Gap
	err = c.Query(ctx, "SELECT origin, first, last, samples, reason, noticed FROM gaps ORDER BY number DESC LIMIT $1", func(ch *engine.Chunk) error {
		origin, reason := ch.Texts(0), ch.Texts(4)
		first, last, samples := engine.Numbers[uint64](ch, 1), engine.Numbers[uint64](ch, 2), engine.Numbers[uint64](ch, 3)
		noticed := engine.Numbers[int64](ch, 5)
		for i := range ch.Rows {
			gaps = append(gaps, store.Gap{
				Origin: origin.At(i), First: first[i], Last: last[i], Samples: samples[i],
				Reason: reason.At(i), Noticed: engine.Time(noticed[i]),
			})
		}
		return nil
	}, max(0, limit))
	if err != nil {
		return nil, s.Fail("duckdb.Gaps", "", err)
	}
	return gaps, nil
}
