package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/store"
)

// partition returns the name of the table with the samples of a day.
func partition(d store.Day) string { return "sample_" + d.Start().Format("20060102") }

// makeDays creates the missing partitions or chunks. The caller holds write.
func (s *days) makeDays(ctx context.Context, op string, days []store.Day) error {
	for _, d := range days {
		if s.made[d] {
			continue
		}
		err := s.transaction(ctx, op, func() error { return s.makeDay(ctx, d) })
		if err != nil {
			return err
		}
		s.made[d] = true
	}
	return nil
}

// makeDay creates a day if absent.
func (s *days) makeDay(ctx context.Context, d store.Day) error {
	if err := s.lockDays(ctx); err != nil {
		return err
	}
	l, err := s.layout(ctx)
	if err != nil {
		return err
	}
	if l.partitioned {
		err = s.makePartition(ctx, d)
	} else {
		err = s.makeChunk(ctx, d)
	}
	if err == nil {
		_, err = s.Conn.Exec(ctx, "INSERT INTO day (day) VALUES ($1) ON CONFLICT DO NOTHING", d.Start())
	}
	return err
}

// upkeep closes and drops days.
type upkeep struct {
	*writer
	*days
	running sync.Mutex // held by Maintain; taken before write
}

// kept is a stored day, for Maintain.
type kept struct {
	day     store.Day
	samples int64
	bytes   int64
	closed  bool
}

// Maintain implements store.Store. It creates tomorrow's day, closes days, and drops those beyond this node's
// retention, and days that stayed empty. Several nodes may do it: the strictest retention applies.
func (s *upkeep) Maintain(ctx context.Context, now time.Time) error {
	const op = "postgres.Maintain"
	s.running.Lock()
	defer s.running.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.connected(ctx, op); err != nil {
		return err
	}
	days, err := s.look(ctx)
	if err != nil {
		return s.fail(op, err)
	}
	if err := s.closeDays(ctx, days, now); err != nil {
		return s.fail(op, err)
	}
	if err := s.dropDays(ctx, op, days, now); err != nil || len(days) == 0 {
		return err
	}
	return s.makeDays(ctx, op, []store.Day{store.DayOf(now.UnixMicro()) + 1})
}

// closeDays marks the days that have ended. The caller holds write.
func (s *upkeep) closeDays(ctx context.Context, days []kept, now time.Time) error {
	for i := range days {
		d := &days[i]
		if d.closed || !now.After(d.day.End().Add(s.options.Grace)) {
			continue
		}
		d.closed = true
		if _, err := s.Conn.Exec(ctx, "UPDATE day SET closed = true WHERE day = $1", d.day.Start()); err != nil {
			return err
		}
	}
	return nil
}

// dropDays removes the days that are beyond the retention or stayed empty. The caller holds write.
func (s *upkeep) dropDays(ctx context.Context, op string, days []kept, now time.Time) error {
	var bytes int64
	for _, d := range days {
		if d.closed {
			bytes += d.bytes
		}
	}
	for _, d := range days {
		tooMuch := s.options.Retention.Bytes > 0 && bytes > s.options.Retention.Bytes && d.closed
		empty := d.samples == 0 && d.closed
		if !tooMuch && !empty && !s.options.Retention.Expired(d.day, now) {
			continue
		}
		if err := s.drop(ctx, op, d.day); err != nil {
			return err
		}
		if d.closed {
			bytes -= d.bytes
		}
	}
	return nil
}

// look lists the existing days, oldest first. The caller holds write.
func (s *upkeep) look(ctx context.Context) ([]kept, error) {
	l, err := s.layout(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.Conn.Query(ctx, `SELECT d.day - date '1970-01-01', d.closed, coalesce((SELECT sum(samples) FROM tally t WHERE t.day = d.day), 0)::bigint,
		coalesce(`+l.sizeOfDay()+`, 0) FROM day d ORDER BY 1`, s.options.Schema)
	if err != nil {
		return nil, err
	}
	var out []kept
	var k kept
	var day int32
	_, err = pgx.ForEachRow(rows, []any{&day, &k.closed, &k.samples, &k.bytes}, func() error {
		k.day = store.Day(day)
		out = append(out, k)
		return nil
	})
	return out, err
}

// drop removes a day. It waits a few seconds for its users. The caller holds write.
func (s *upkeep) drop(ctx context.Context, op string, d store.Day) error {
	delete(s.made, d)
	return s.transaction(ctx, op, func() error {
		if err := s.aloneWithDays(ctx); err != nil {
			return err
		}
		l, err := s.layout(ctx)
		if err != nil {
			return err
		}
		if err := s.dropSamples(ctx, l, d); err != nil {
			return fmt.Errorf("drop the day %v: %w", d, err)
		}
		if _, err := s.Conn.Exec(ctx, "DELETE FROM day WHERE day = $1", d.Start()); err != nil {
			return err
		}
		_, err = s.Conn.Exec(ctx, `WITH gone AS (DELETE FROM tally WHERE day = $1 RETURNING samples)
			UPDATE writer SET expired = expired + coalesce((SELECT sum(samples) FROM gone), 0) WHERE name = $2`, d.Start(), s.options.Writer)
		return err
	})
}

// Stats implements store.Store: of all writers together.
func (s *queries) Stats(ctx context.Context) (store.Stats, error) {
	const op = "postgres.Stats"
	var out store.Stats
	if err := s.usable(ctx, op); err != nil {
		return out, err
	}
	var oldest, newest *time.Time
	var samples, replaced, overwritten, expired int64
	err := s.pool.QueryRow(ctx, `WITH days AS (
			SELECT d.day, d.closed, sum(t.samples) AS samples, max(t.newest) AS newest
			FROM day d JOIN tally t USING (day) GROUP BY 1, 2 HAVING sum(t.samples) > 0)
		SELECT (SELECT count(*) FROM point), coalesce(sum(samples), 0)::bigint, min(day), max(newest),
			count(*) FILTER (WHERE NOT closed), count(*) FILTER (WHERE closed),
			(SELECT coalesce(sum(replaced), 0)::bigint FROM writer), (SELECT coalesce(sum(overwritten), 0)::bigint FROM writer), (SELECT coalesce(sum(expired), 0)::bigint FROM writer),
			(SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relnamespace = $1::text::regnamespace AND relkind = 'r')
		FROM days`, s.options.Schema).Scan(&out.Points, &samples, &oldest, &newest, &out.Open, &out.Closed, &replaced, &overwritten, &expired, &out.Bytes)
	if err != nil {
		return out, s.fail(op, err)
	}
	out.Samples, out.Replaced, out.Overwritten, out.Expired = uint64(samples), uint64(replaced), uint64(overwritten), uint64(expired)
	if oldest != nil {
		out.Oldest, out.Newest = oldest.UTC(), newest.UTC()
	}
	return out, nil
}
