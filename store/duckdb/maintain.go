package duckdb

import (
	"cmp"
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
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// upkeep closes and drops days, and looks for damage.
type upkeep struct {
	*database
	*index
	*dayFiles
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
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	for _, d := range s.allDays() {
		if s.options.Retention.Expired(d.key, now) || !s.due(d, now) {
			continue
		}
		if err := s.closeDay(ctx, d); err != nil {
			return s.fail(op, d.key.String(), err)
		}
	}
	if err := s.expire(ctx, now); err != nil {
		return s.fail(op, s.options.Dir, err)
	}
	return s.cleanUp(ctx, op)
}

// due reports whether the day's table becomes a file now.
func (s *upkeep) due(d *day, now time.Time) bool {
	if d.table == "" || !now.After(d.key.End().Add(s.options.Grace)) {
		delete(s.seen, d.key)
		return false
	}
	if d.file == "" {
		return true
	}
	q, ok := s.seen[d.key]
	if !ok || q.stored != d.stored {
		s.seen[d.key] = quiet{stored: d.stored, since: now}
		return false
	}
	return now.Sub(q.since) >= s.options.Grace
}

// closeDay writes the day's samples, sorted, to a file, and then replaces table and old file by it
// in one transaction. A crash in between leaves a file that is removed when the store is opened.
func (s *upkeep) closeDay(ctx context.Context, d *day) error {
	next := day{key: d.key, file: d.nextFile(), generation: d.generation + 1}
	tmp := s.dayFile(next.file + ".tmp")
	defer func() { _ = os.Remove(tmp) }() // gone already if all went well
	if err := s.copyDay(ctx, d, tmp); err != nil {
		return err
	}
	if err := syncFile(tmp); err != nil {
		return fmt.Errorf("make the day's file durable: %w", err)
	}
	var err error
	if next.checksum, next.bytes, err = checksum(tmp); err != nil {
		return fmt.Errorf("read the day's file again: %w", err)
	}
	if err := os.Rename(tmp, s.dayFile(next.file)); err != nil {
		return err
	}
	if err := syncFile(filepath.Dir(tmp)); err != nil {
		return fmt.Errorf("make the day's name durable: %w", err)
	}
	overwritten, err := s.overwrittenIn(ctx, d)
	if err != nil {
		return errors.Join(err, os.Remove(s.dayFile(next.file)))
	}
	changed, err := s.swap(ctx, d, &next, overwritten)
	if err != nil || changed {
		return errors.Join(err, os.Remove(s.dayFile(next.file)))
	}
	s.options.Log.InfoContext(ctx, "day closed", "day", d.key.String(), "samples", next.rows, "bytes", next.bytes)
	return nil
}

// copyDay writes the day's samples to the file, sorted by point and time.
func (s *upkeep) copyDay(ctx context.Context, d *day, file string) error {
	c, err := s.borrow(ctx, "duckdb.Maintain")
	if err != nil {
		return err
	}
	defer s.giveBack(c)
	return c.Exec(ctx, "COPY (SELECT d.id, p.path AS point, d.time, d.value, d.exact, d.text, d.kind, d.quality FROM ("+
		s.daySQL(d)+") d JOIN points p ON p.id = d.id ORDER BY d.id, d.time) TO "+quote(file)+
		" (FORMAT parquet, COMPRESSION zstd, PARQUET_VERSION v2, ROW_GROUP_SIZE "+strconv.Itoa(rowGroup)+")")
}

// overwrittenIn counts the day's samples that say something else than the one that was stored before at the same time.
func (s *upkeep) overwrittenIn(ctx context.Context, d *day) (uint64, error) {
	if !d.disordered || d.table == "" {
		return 0, nil
	}
	c, err := s.borrow(ctx, "duckdb.Maintain")
	if err != nil {
		return 0, err
	}
	defer s.giveBack(c)
	return count(ctx, c, "SELECT count(*) FILTER (WHERE said <> before) FROM (SELECT said, lag(said) OVER (PARTITION BY id, time ORDER BY origin, place) AS before "+
		"FROM (SELECT id, time, origin, place, hash(value, exact, text, kind, quality) AS said FROM ("+s.storedSQL(d)+")))")
}

// daySQL returns a query for the day's samples, each point and time once.
func (s *dayFiles) daySQL(d *day) string {
	both := s.storedSQL(d)
	if !d.disordered || d.table == "" {
		return "SELECT " + sample.FileColumns + " FROM (" + both + ")"
	}
	return "SELECT " + sample.FileColumns + " FROM (" + both + ") QUALIFY row_number() OVER (PARTITION BY id, time ORDER BY origin DESC, place DESC) = 1"
}

// storedSQL returns a query for all that was stored of the day, with its place in that order.
func (s *dayFiles) storedSQL(d *day) string {
	table := ""
	if d.table != "" {
		table = d.rowsSQL()
	}
	file := ""
	if d.file != "" {
		file = fmt.Sprintf("SELECT %s, 0 AS origin, 0 AS place FROM read_parquet(%s)", sample.FileColumns, quote(s.dayFile(d.file)))
	}
	if table != "" && file != "" {
		return file + " UNION ALL " + table
	}
	return table + file
}

// rowsSQL returns a query for the samples of the day's table, with their place among those of the
// day, in the columns of a file.
func (d *day) rowsSQL() string {
	text, join := "NULL::VARCHAR", ""
	if d.texts > 0 {
		text = "w.text"
		join = " LEFT JOIN " + cmp.Or(d.shownWords, sample.WordTable(d.table)) + " w ON w.number = t.value AND (t.tag & 255) = 4"
	}
	if d.shown != "" {
		return fmt.Sprintf("SELECT "+sample.Decoded+", 1 AS origin, t.place AS place FROM %s t%s WHERE t.place < %d", text, d.shown, join, d.stored)
	}
	return fmt.Sprintf("SELECT "+sample.Decoded+", 1 AS origin, t.rowid AS place FROM %s t%s WHERE t.rowid < %d", text, d.table, join, d.stored)
}

// from returns a day whose rows and texts are read from elsewhere than its tables.
func (d *day) from(rows, words string) *day {
	out := *d
	out.shown, out.shownWords = rows, words
	return &out
}

// swap makes the file the day's only place, unless samples have come meanwhile.
func (s *upkeep) swap(ctx context.Context, d, next *day, overwritten uint64) (changed bool, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, "duckdb.Maintain")
	if err != nil {
		return false, err
	}
	if s.days[d.key] != d {
		return true, nil
	}
	if next.rows, err = count(ctx, c, "SELECT count(*) FROM read_parquet($1)", s.dayFile(next.file)); err != nil {
		return false, err
	}
	known := s.counters
	known.replaced += d.rows + d.stored - next.rows
	known.overwritten += overwritten
	err = c.Transact(ctx, func() error {
		if err := saveLatest(ctx, c, s.cat); err != nil {
			return err
		}
		if err := saveCounters(ctx, c, known); err != nil {
			return err
		}
		return saveDay(ctx, c, next)
	})
	if err != nil {
		return false, err
	}
	s.replace(d.key, next, []string{d.table}, []string{d.file})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters = known
	return false, nil
}

// replace publishes a day, or its end if next is nil, and retires its places. The caller holds
// write.
func (s *upkeep) replace(key store.Day, next *day, tables, files []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	days := maps.Clone(s.days)
	delete(days, key)
	if next != nil && !next.empty() {
		days[key] = next
	}
	s.days = days
	delete(s.scratch.words, key)
	s.retire(tables, files)
}

// cleanUp removes what nobody reads any more.
func (s *upkeep) cleanUp(ctx context.Context, op string) error {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, op)
	if err != nil {
		return err
	}
	s.release(ctx, c)
	if days := places(s.days); s.saved.Stale(days) {
		s.saved.Save(ctx, c, &s.cat.last, days)
	}
	return nil
}

// expire drops the days that the retention does not keep.
func (s *upkeep) expire(ctx context.Context, now time.Time) error {
	days := s.allDays()
	var bytes int64
	for _, d := range days {
		bytes += d.bytes
	}
	limit := s.options.Retention.Bytes
	for _, d := range days {
		tooMuch := limit > 0 && bytes > limit && d.file != "" && now.After(d.key.End().Add(s.options.Grace))
		if !tooMuch && !s.options.Retention.Expired(d.key, now) {
			continue
		}
		if err := s.dropDay(ctx, d.key); err != nil {
			return err
		}
		bytes -= d.bytes
	}
	return s.expireDamaged(ctx, now)
}

// dropDay removes the day with all that it holds now.
func (s *upkeep) dropDay(ctx context.Context, key store.Day) error {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, "duckdb.Maintain")
	if err != nil {
		return err
	}
	d := s.days[key]
	known := s.counters
	known.expired += d.rows + d.stored
	known.overwritten += d.overwritten
	err = c.Transact(ctx, func() error {
		if err := c.Exec(ctx, "DELETE FROM latest WHERE time >= $1 AND time < $2", key.Start(), key.End()); err != nil {
			return err
		}
		if err := s.saved.Forget(ctx, c); err != nil {
			return err
		}
		if err := saveCounters(ctx, c, known); err != nil {
			return err
		}
		return saveDay(ctx, c, &day{key: key})
	})
	if err != nil {
		return err
	}
	s.replace(key, nil, []string{d.table}, []string{d.file})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counters = known
	s.cat.last.Forget(func(time int64) bool { return store.DayOf(time) == key })
	s.options.Log.InfoContext(ctx, "day dropped", "day", key.String(), "samples", d.rows+d.stored)
	return nil
}

// expireDamaged removes files that were set aside, when their day is beyond the age.
func (s *upkeep) expireDamaged(ctx context.Context, now time.Time) error {
	if s.options.Retention.Age == 0 {
		return nil
	}
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, "duckdb.Maintain")
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
