package duckdb

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"voltbus/store"
	"voltbus/store/duckdb/engine"
)

// damage is a piece of the history that was set aside.
type damage struct {
	file    string
	day     store.Day
	days    int // 0 if it is not known which
	reason  string
	noticed time.Time
}

// noteDamage remembers the damage. The caller holds write.
func noteDamage(ctx context.Context, c *engine.Conn, d damage) error {
	return c.Exec(ctx, "INSERT INTO damaged VALUES ($1, $2, $3, $4, $5)", d.file, int64(d.day), d.days, d.reason, d.noticed)
}

// damages lists what was set aside, oldest first.
func damages(ctx context.Context, c *engine.Conn) ([]store.Damage, error) {
	var out []store.Damage
	err := c.Query(ctx, "SELECT file, day, days, reason, noticed FROM damaged ORDER BY noticed, file", func(ch *engine.Chunk) error {
		file, reason := ch.Texts(0), ch.Texts(3)
		first, days, noticed := engine.Numbers[int32](ch, 1), engine.Numbers[int32](ch, 2), engine.Numbers[int64](ch, 4)
		for i := range ch.Rows {
			d := store.Damage{File: file.At(i), Reason: reason.At(i), Noticed: engine.Time(noticed[i])}
			if days[i] > 0 {
				d.From = store.Day(first[i]).Start()
				d.To = store.Day(first[i] + days[i]).Start()
			}
			out = append(out, d)
		}
		return nil
	})
	return out, err
}

// Scrub reads every file of a closed day and compares it with its checksum. A file that is
// missing or differs is set aside and appears in Stats; its day is served without it. Scrub is
// meant to be called rarely, such as once a day: it reads the whole history from the disk.
func (s *upkeep) Scrub(ctx context.Context) error {
	const op = "duckdb.Scrub"
	s.running.Lock()
	defer s.running.Unlock()
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	_, err := s.check(ctx, op, s.allDays())
	return err
}

// check compares the files of the days with their checksums, sets aside those that differ, and
// counts them. The caller holds upkeep.
func (s *upkeep) check(ctx context.Context, op string, days []*day) (aside int, err error) {
	for _, d := range days {
		if d.file == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return aside, s.fail(op, d.file, err)
		}
		if reason := inspect(s.dayFile(d.file), d); reason != "" {
			if err := s.setDayAside(ctx, op, d, reason); err != nil {
				return aside, err
			}
			aside++
		}
	}
	return aside, nil
}

// allDays returns the days by date.
func (s *index) allDays() []*day {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*day, 0, len(s.days))
	for _, d := range s.days {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *day) int { return int(a.key) - int(b.key) })
	return out
}

// inspect returns what is wrong with a day's file, or "".
func inspect(name string, d *day) string {
	sum, size, err := checksum(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "the file is missing"
	case err != nil:
		return "the file cannot be read: " + err.Error()
	case size != d.bytes:
		return fmt.Sprintf("the file has %d bytes instead of %d", size, d.bytes)
	case sum != d.checksum:
		return "the file differs from its checksum"
	}
	return ""
}

// setDayAside takes the file of a day out of use. The caller holds upkeep.
func (s *upkeep) setDayAside(ctx context.Context, op string, d *day, reason string) error {
	s.write.Lock()
	defer s.write.Unlock()
	c, err := s.connection(ctx, op)
	if err != nil {
		return err
	}
	next := *s.days[d.key]
	if next.file != d.file {
		return nil
	}
	next.file, next.rows, next.bytes, next.checksum = "", 0, 0, 0
	next.generation++
	err = c.Transact(ctx, func() error {
		if err := saveDay(ctx, c, &next); err != nil {
			return err
		}
		return noteDamage(ctx, c, damage{file: "days/" + d.file + ".damaged", day: d.key, days: 1, reason: reason, noticed: now()})
	})
	if err != nil {
		return s.fail(op, d.file, err)
	}
	s.replace(d.key, &next, nil, nil)
	if err := os.Rename(s.dayFile(d.file), s.dayFile(d.file)+".damaged"); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.options.Log.WarnContext(ctx, "damaged file stays where it was", "file", d.file, "err", err)
	}
	s.options.Log.ErrorContext(ctx, "day set aside", "file", d.file, "reason", reason)
	return nil
}

// checksum returns the XXH3 of a file's content, and its size.
func checksum(name string) (sum uint64, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = f.Close() }() // was only read
	h := xxh3.New()
	size, err = io.Copy(h, f)
	return binary.BigEndian.Uint64(h.Sum(nil)), size, err
}
