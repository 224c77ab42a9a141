package duckdb

import (
	"context"
	"os"

	"voltbus/store"
)

// Stats implements store.Store. Samples counts those in tables as often as they were stored; what
// is superseded is counted in Replaced when the day is closed.
func (s *Store) Stats(ctx context.Context) (store.Stats, error) {
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
func (s *Store) counts() store.Stats {
	days := s.allDays()
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := store.Stats{Points: len(s.cat.ids), Replaced: s.replaced, Expired: s.expired}
	for _, d := range days {
		out.Samples += d.rows + d.stored
		out.Bytes += d.bytes
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
	for i := range s.cat.latest {
		if l := &s.cat.latest[i]; l.known {
			if t := l.sample("").Time; t.After(out.Newest) {
				out.Newest = t
			}
		}
	}
	return out
}
