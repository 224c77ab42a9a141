package duckdb

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/manifest"
)

// Scrub reads every file of a closed day and compares it with its checksum. A missing or different file is
// set aside and appears in Stats; its day is served without it. Scrub is meant to be called rarely, such as
// once a day: it reads the whole history from the disk.
func (s *upkeep) Scrub(ctx context.Context) error {
	const op = "duckdb.Scrub"
	s.running.Lock()
	defer s.running.Unlock()
	if err := s.Usable(ctx, op); err != nil {
		return err
	}
	_, err := s.check(ctx, op, s.allDays())
	return err
}

// check compares the files of the days with their checksums, sets aside those that differ, and
// counts them. The caller holds upkeep.
func (s *upkeep) check(ctx context.Context, op string, days []*day.Day) (aside int, err error) {
	for _, d := range days {
		if d.File == "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return aside, s.Fail(op, d.File, err)
		}
		if reason := inspect(s.dayFile(d.File), d); reason != "" {
			if err := s.setDayAside(ctx, op, d, reason); err != nil {
				return aside, err
			}
			aside++
		}
	}
	return aside, nil
}

// allDays returns the days by date.
func (s *index) allDays() []*day.Day {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*day.Day, 0, len(s.days))
	for _, d := range s.days {
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b *day.Day) int { return int(a.Key) - int(b.Key) })
	return out
}

// inspect returns what is wrong with a day's file, or "".
func inspect(name string, d *day.Day) string {
	sum, size, err := day.Checksum(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "the file is missing"
	case err != nil:
		return "the file cannot be read: " + err.Error()
	case size != d.Bytes:
		return fmt.Sprintf("the file has %d bytes instead of %d", size, d.Bytes)
	case sum != d.Checksum:
		return "the file differs from its checksum"
	}
	return ""
}

// setDayAside takes a day's file out of use. The caller holds upkeep.
func (s *upkeep) setDayAside(ctx context.Context, op string, d *day.Day, reason string) error {
	s.Write.Lock()
	defer s.Write.Unlock()
	c, err := s.Connection(ctx, op)
	if err != nil {
		return err
	}
	next := *s.days[d.Key]
	if next.File != d.File {
		return nil
	}
	next.File, next.Rows, next.Bytes, next.Checksum = "", 0, 0, 0
	next.Generation++
	err = c.Transact(ctx, func() error {
		if err := day.Save(ctx, c, &next); err != nil {
			return err
		}
		return manifest.NoteDamage(ctx, c, manifest.Damage{File: "days/" + d.File + ".damaged", Day: d.Key, Days: 1, Reason: reason})
	})
	if err != nil {
		return s.Fail(op, d.File, err)
	}
	s.replace(d.Key, &next, nil, nil)
	if err := os.Rename(s.dayFile(d.File), s.dayFile(d.File)+".damaged"); err != nil && !errors.Is(err, os.ErrNotExist) {
		s.options.Log.WarnContext(ctx, "damaged file stays where it was", "file", d.File, "err", err)
	}
	s.options.Log.ErrorContext(ctx, "day set aside", "file", d.File, "reason", reason)
	return nil
}
