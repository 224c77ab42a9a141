package duckdb

import (
	"context"
	"os"
	"slices"
	"sync/atomic"

	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// epoch counts the readers that use the same tables and files. What Maintain takes out of use in an epoch is
// removed when its readers and those of all earlier epochs are done.
type epoch struct {
	readers atomic.Int64
	tables  []string
	files   []string
}

// view is a reader's snapshot of the days. It stays readable until done is called.
type view struct {
	days  []*day.Day // by date
	epoch *epoch
}

// look returns the days that hold samples with from ≤ time < to.
func (s *index) look(from, to int64) view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	v := view{epoch: s.epoch}
	v.epoch.readers.Add(1)
	first, last := store.DayOf(from), store.DayOf(to-1)
	for key, d := range s.days {
		if key >= first && key <= last {
			v.days = append(v.days, d)
		}
	}
	slices.SortFunc(v.days, func(a, b *day.Day) int { return int(a.Key) - int(b.Key) })
	return v
}

func (v *view) done() { v.epoch.readers.Add(-1) }

// retire ends the epoch and records what is no longer in use. The caller holds mu.
func (s *index) retire(tables, files []string) {
	e := s.epoch
	for _, t := range tables {
		if t != "" {
			e.tables = append(e.tables, t)
		}
	}
	for _, f := range files {
		if f != "" {
			e.files = append(e.files, f)
		}
	}
	s.retired = append(s.retired, e)
	s.epoch = &epoch{}
}

// release removes what no reader can use any more. Anything left over is removed when the store is opened.
// The caller holds write.
func (s *upkeep) release(ctx context.Context, c *engine.Conn) {
	for _, e := range s.free() {
		for _, t := range e.tables {
			if err := sample.DropTable(ctx, c, t); err != nil {
				s.options.Log.WarnContext(ctx, "old table stays until the next start", "table", t, "err", err)
			}
		}
		for _, f := range e.files {
			if err := os.Remove(s.dayFile(f)); err != nil && !os.IsNotExist(err) {
				s.options.Log.WarnContext(ctx, "old file stays until the next start", "file", f, "err", err)
			}
		}
	}
}

// free removes the epochs without readers from the list, oldest first.
func (s *index) free() []*epoch {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for n < len(s.retired) && s.retired[n].readers.Load() == 0 {
		n++
	}
	out := s.retired[:n]
	s.retired = s.retired[n:]
	return out
}
