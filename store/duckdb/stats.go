package duckdb

import (
	"context"
	"os"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/manifest"
)

// Stats implements store.Store. Samples counts those in tables as often as they were stored; superseded ones
// are counted in Replaced when the day is closed.
func (s *queries) Stats(ctx context.Context) (store.Stats, error) {
	const op = "duckdb.Stats"
	c, err := s.Borrow(ctx, op)
	if err != nil {
		return store.Stats{}, err
	}
	defer s.GiveBack(c)
	out := s.counts()
	for _, name := range []string{s.File(), s.File() + ".wal"} {
		if info, err := os.Stat(name); err == nil {
			out.Bytes += info.Size()
		}
	}
	if out.Damaged, err = manifest.ListDamage(ctx, c); err != nil {
		return store.Stats{}, s.Fail(op, "", err)
	}
	return out, nil
}

// counts returns the figures known without disk access.
func (s *index) counts() store.Stats {
	days := s.allDays()
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := store.Stats{Points: s.cat.Names.Len(), Replaced: s.counters.Replaced, Expired: s.counters.Expired, Overwritten: s.counters.Overwritten}
	for _, d := range days {
		out.Samples += d.Rows + d.Stored
		out.Bytes += d.Bytes
		out.Overwritten += d.Overwritten
		if d.File != "" {
			out.Closed++
		}
		if d.Table != "" {
			out.Open++
		}
	}
	if len(days) > 0 {
		out.Oldest = days[0].Key.Start()
	}
	if newest, known := s.cat.Last.Newest(); known {
		out.Newest = engine.Time(newest)
	}
	return out
}
