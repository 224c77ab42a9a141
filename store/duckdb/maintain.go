package duckdb

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"voltbus/store"
	"voltbus/store/duckdb/catalogue"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/manifest"
	"voltbus/store/duckdb/snapshot"
)

// upkeep closes and drops days, and looks for damage.
type upkeep struct {
	*database
	*index
	*day.Files
	running sync.Mutex // held by Maintain, Scrub and Close
	seen    map[store.Day]quiet
	scratch *scratch
	saved   *snapshot.Keeper
}

// quiet is since when a day with late samples has received no more.
type quiet struct {
	stored uint64
	since  time.Time
}

// Maintain implements store.Store. It closes the days that have ended, merges late samples into
// closed days when none have come for the grace time, and drops what is beyond the retention.
// Appends and reads go on meanwhile.
func (s *upkeep) Maintain(ctx context.Context, now time.Time) error {
	const op = "duckdb.Maintain"
	s.running.Lock()
	defer s.running.Unlock()
	if err := s.Usable(ctx, op); err != nil {
		return err
	}
	for _, d := range s.allDays() {
		if s.options.Retention.Expired(d.Key, now) || !s.due(d, now) {
			continue
		}
		if err := s.closeDay(ctx, d); err != nil {
			return s.Fail(op, d.Key.String(), err)
		}
	}
	if err := s.expire(ctx, now); err != nil {
		return s.Fail(op, s.options.Dir, err)
	}
	return s.cleanUp(ctx, op)
}

// due reports whether the day's table becomes a file now.
func (s *upkeep) due(d *day.Day, now time.Time) bool {
	if d.Table == "" || !now.After(d.Key.End().Add(s.options.Grace)) {
		delete(s.seen, d.Key)
		return false
	}
	if d.File == "" {
		return true
	}
	q, ok := s.seen[d.Key]
	if !ok || q.stored != d.Stored {
		s.seen[d.Key] = quiet{stored: d.Stored, since: now}
		return false
	}
	return now.Sub(q.since) >= s.options.Grace
}

// closeDay writes the day's samples, sorted, to a file, and then replaces table and old file by it
// in one transaction. A crash in between leaves a file that is removed when the store is opened.
func (s *upkeep) closeDay(ctx context.Context, d *day.Day) error {
	next := day.Day{Key: d.Key, File: d.NextFile(), Generation: d.Generation + 1}
	tmp := s.dayFile(next.File + ".tmp")
	defer func() { _ = os.Remove(tmp) }() // absent if all went well
	if err := s.copyDay(ctx, d, tmp); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return fmt.Errorf("make the day's file durable: %w", err)
	}
	var err error
	if next.Checksum, next.Bytes, err = day.Checksum(tmp); err != nil {
		return fmt.Errorf("read the day's file again: %w", err)
	}
	if err := os.Rename(tmp, s.dayFile(next.File)); err != nil {
		return err
	}
	if err := syncFile(filepath.Dir(tmp)); err != nil {
		return fmt.Errorf("make the day's name durable: %w", err)
	}
	overwritten, err := s.overwrittenIn(ctx, d)
	if err != nil {
		return errors.Join(err, os.Remove(s.dayFile(next.File)))
	}
	changed, err := s.swap(ctx, d, &next, overwritten)
	if err != nil || changed {
		return errors.Join(err, os.Remove(s.dayFile(next.File)))
	}
	s.options.Log.InfoContext(ctx, "day closed", "day", d.Key.String(), "samples", next.Rows, "bytes", next.Bytes)
	return nil
}

// copyDay writes the day's samples to the file, sorted by point and time.
func (s *upkeep) copyDay(ctx context.Context, d *day.Day, file string) error {
	c, err := s.Borrow(ctx, "duckdb.Maintain")
	if err != nil {
		return err
	}
	defer s.GiveBack(c)
	return c.Exec(ctx, "COPY (SELECT d.id, p.path AS point, d.time, d.value, d.exact, d.text, d.kind, d.quality FROM ("+
		s.SQL(d)+") d JOIN points p ON p.id = d.id ORDER BY d.id, d.time) TO "+engine.Quote(file)+
		" (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE "+strconv.Itoa(day.RowGroup)+")")
}

// overwrittenIn counts the day's samples that differ from one stored before at the same time.
func (s *upkeep) overwrittenIn(ctx context.Context, d *day.Day) (uint64, error) {
	if !d.Disordered || d.Table == "" {
		return 0, nil
	}
	c, err := s.Borrow(ctx, "duckdb.Maintain")
	if err != nil {
		return 0, err
	}
	defer s.GiveBack(c)
	return engine.Count(ctx, c, "SELECT count(*) FILTER (WHERE said <> before) FROM (SELECT said, lag(said) OVER (PARTITION BY id, time ORDER BY origin, place) AS before "+
		"FROM (SELECT id, time, origin, place, hash(value, exact, text, kind, quality) AS said FROM ("+s.StoredSQL(d)+")))")
}

// swap makes the file the day's only location, unless samples have arrived meanwhile.
func (s *upkeep) swap(ctx context.Context, d, next *day.Day, overwritten uint64) (changed bool, err error) {
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, "duckdb.Maintain")
	if err != nil {
		return false, err
	}
	if s.days[d.Key] != d {
		return true, nil
	}
	if next.Rows, err = engine.Count(ctx, c, "SELECT count(*) FROM read_parquet($1)", s.dayFile(next.File)); err != nil {
		return false, err
	}
	known := s.counters
	known.Replaced += d.Rows + d.Stored - next.Rows
	known.Overwritten += overwritten
	err = c.Transact(ctx, func() error {
		if err := catalogue.SaveLatest(ctx, c, s.cat); err != nil {
			return err
		}
		if err := manifest.SaveCounters(ctx, c, known); err != nil {
			return err
		}
		return day.Save(ctx, c, next)
	})
	if err != nil {
		return false, err
	}
	s.replace(d.Key, next, []string{d.Table}, []string{d.File})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters = known
	return false, nil
}

// replace publishes a day, or its removal if next is nil, and retires its old locations. The caller holds
// write.
func (s *upkeep) replace(key store.Day, next *day.Day, tables, files []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	days := maps.Clone(s.days)
	delete(days, key)
	if next != nil && !next.Empty() {
		days[key] = next
	}
	s.days = days
	delete(s.scratch.words, key)
	s.retire(tables, files)
}

// cleanUp removes what no reader uses any more.
func (s *upkeep) cleanUp(ctx context.Context, op string) error {
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, op)
	if err != nil {
		return err
	}
	s.release(ctx, c)
	if days := day.Places(s.days); s.saved.Stale(days) {
		s.saved.Save(ctx, c, &s.cat.Last, days)
	}
	return nil
}

// expire drops the days beyond the retention.
func (s *upkeep) expire(ctx context.Context, now time.Time) error {
	days := s.allDays()
	var bytes int64
	for _, d := range days {
		bytes += d.Bytes
	}
	limit := s.options.Retention.Bytes
	for _, d := range days {
		tooMuch := limit > 0 && bytes > limit && d.File != "" && now.After(d.Key.End().Add(s.options.Grace))
		if !tooMuch && !s.options.Retention.Expired(d.Key, now) {
			continue
		}
		if err := s.dropDay(ctx, d.Key); err != nil {
			return err
		}
		bytes -= d.Bytes
	}
	return s.expireDamaged(ctx, now)
}

// dropDay removes the day with all its present data.
func (s *upkeep) dropDay(ctx context.Context, key store.Day) error {
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, "duckdb.Maintain")
	if err != nil {
		return err
	}
	d := s.days[key]
	known := s.counters
	known.Expired += d.Rows + d.Stored
	known.Overwritten += d.Overwritten
	err = c.Transact(ctx, func() error {
		if err := c.Exec(ctx, "DELETE FROM latest WHERE time >= $1 AND time < $2", key.Start(), key.End()); err != nil {
			return err
		}
		if err := s.saved.Forget(ctx, c); err != nil {
			return err
		}
		if err := manifest.SaveCounters(ctx, c, known); err != nil {
			return err
		}
		return day.Save(ctx, c, &day.Day{Key: key})
	})
	if err != nil {
		return err
	}
	s.replace(key, nil, []string{d.Table}, []string{d.File})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters = known
	s.cat.Last.Forget(func(time int64) bool { return store.DayOf(time) == key })
	s.options.Log.InfoContext(ctx, "day dropped", "day", key.String(), "samples", d.Rows+d.Stored)
	return nil
}

// expireDamaged removes files that were set aside, when their day is beyond the maximum age.
func (s *upkeep) expireDamaged(ctx context.Context, now time.Time) error {
	if s.options.Retention.Age == 0 {
		return nil
	}
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, "duckdb.Maintain")
	if err != nil {
		return err
	}
	before := store.DayOf(now.Add(-s.options.Retention.Age).UnixMicro())
	var files []string
	err = c.Query(ctx, "SELECT file FROM damaged WHERE days > 0 AND day < $1", func(ch *engine.Chunk) error {
		for i := range ch.Rows {
			files = append(files, ch.Texts(0).At(i))
		}
		return nil
	}, int64(before))
	if err != nil || len(files) == 0 {
		return err
	}
	for _, f := range files {
		if err := os.Remove(filepath.Join(s.options.Dir, f)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return c.Exec(ctx, "DELETE FROM damaged WHERE days > 0 AND day < $1", int64(before))
}
