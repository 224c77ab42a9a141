package duckdb

import (
	"context"
	"os"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// Stats implements store.Store. Samples counts those in tables as often as they were stored; what
// is superseded is counted in Replaced when the day is closed.
func (s *queries) Stats(ctx context.Context) (store.Stats, error) {
	const op = "duckdb.Stats"
	c, err := s.borrow(ctx, op)
	if err != nil {
		return store.Stats{}, err
	}
	defer s.giveBack(c)
	out := s.counts()
	for _, name := range []string{s.databaseFile(), s.databaseFile() + ".wal"} {
		if info, err := os.Stat(name); err == nil {
			out.Bytes += info.Size()
		}
	}
	if out.Damaged, err = damages(ctx, c); err != nil {
		return store.Stats{}, s.fail(op, "", err)
	}
	return out, nil
}

// counts returns what is known without the disk.
func (s *index) counts() store.Stats {
	days := s.allDays()
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := store.Stats{Points: s.cat.names.Len(), Replaced: s.counters.replaced, Expired: s.counters.expired, Overwritten: s.counters.overwritten}
	for _, d := range days {
		out.Samples += d.rows + d.stored
		out.Bytes += d.bytes
		out.Overwritten += d.overwritten
		if d.file != "" {
			out.Closed++
		}
		if d.table != "" {
			out.Open++
		}
	}
	if len(days) > 0 {
		out.Oldest = days[0].key.Start()
	}
	if newest, known := s.cat.last.Newest(); known {
		out.Newest = engine.Time(newest)
	}
	return out
}
