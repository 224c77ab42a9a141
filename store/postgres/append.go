package postgres

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/connection"
	"voltbus/store/postgres/row"
)

var errOrigin = errors.New("origin, log and reason must be UTF-8 without the character 0")

var errRace = errors.New("another node stored samples of the same points and times just now; it is tried again")

// appends stores blocks.
type appends struct {
	*writer
	*days
}

// Append implements store.Store. Blocks of one origin may come from several nodes, as when a child and its parent both store
// here: all writers share the positions, so each block is stored by whichever comes first. It returns fault.Conflict if
// another node has this store's name or one of its own origins.
func (s *appends) Append(ctx context.Context, blocks []*point.Block) (store.Result, error) {
	const op = "postgres.Append"
	if err := check(op, blocks); err != nil {
		return store.Result{}, err
	}
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.connected(ctx, op); err != nil || len(blocks) == 0 {
		return store.Result{}, err
	}
	entry, err := s.store(ctx, op, blocks)
	if err != nil {
		return store.Result{}, err
	}
	s.cursor = entry.Cursor
	return entry.Result, nil
}

// originsOf lists the origins of blocks in the order of their names, each once.
func originsOf(blocks []*point.Block) []string {
	seen := make(map[string]bool)
	for _, b := range blocks {
		seen[b.Origin] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

func check(op string, blocks []*point.Block) error {
	if err := store.CheckBlocks(op, blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		if !connection.Storable(b.Origin) || !connection.Storable(b.Log) || !connection.Storable(b.Lost) {
			return fault.E(op, fault.Invalid, b.Origin, errOrigin)
		}
	}
	return nil
}

// store decides about the blocks and writes them in one transaction. The caller holds write.
func (s *appends) store(ctx context.Context, op string, blocks []*point.Block) (entry store.Entry, err error) {
	if err := s.makeDays(ctx, op, row.Days(blocks)); err != nil {
		return entry, err
	}
	var fresh map[point.Path]int32
	var l row.Load
	err = s.transaction(ctx, op, func() error {
		if err := s.shareDays(ctx); err != nil {
			return err
		}
		positions, err := s.lockPositions(ctx, originsOf(blocks))
		if err != nil {
			return err
		}
		entry = store.NewLedger(positions, s.cursor).Post(blocks, time.Now())
		if fresh, err = s.number(ctx, entry.Blocks); err != nil {
			return err
		}
		l = row.NewLoad(entry.Blocks, func(ids []int32, points []point.Path) []int32 { return s.numbers(ids, points, fresh) }, s.seen)
		if err := s.put(ctx, &l); err != nil {
			return err
		}
		if err := s.count(ctx, &l); err != nil {
			return err
		}
		return s.save(ctx, &entry, blocks, &l)
	})
	if err != nil {
		return entry, err
	}
	s.mu.Lock()
	maps.Copy(s.ids, fresh)
	s.mu.Unlock()
	l.Remember(s.seen)
	return entry, nil
}

// number finds the numbers of points that this store has not seen yet, and assigns numbers to new ones,
// within a transaction.
func (s *appends) number(ctx context.Context, blocks []*point.Block) (map[point.Path]int32, error) {
	unknown := make(map[point.Path]int32)
	s.mu.RLock()
	for _, b := range blocks {
		for _, p := range b.Points {
			if _, ok := s.ids[p]; !ok {
				unknown[p] = 0
			}
		}
	}
	s.mu.RUnlock()
	if len(unknown) == 0 {
		return unknown, nil
	}
	// In order, so that two writers do not deadlock.
	paths := slices.Sorted(maps.Keys(unknown))
	added, err := s.Conn.Exec(ctx, `INSERT INTO point (path) SELECT u.path FROM unnest($1::text[]) WITH ORDINALITY u(path, n)
		WHERE NOT EXISTS (SELECT FROM point p WHERE p.path = u.path) ORDER BY n ON CONFLICT DO NOTHING`, paths)
	if err == nil && added.RowsAffected() > 0 {
		_, err = s.Conn.Exec(ctx, "SELECT pg_notify($1, '')", s.channel())
	}
	if err != nil {
		return nil, err
	}
	rows, err := s.Conn.Query(ctx, "SELECT id, path FROM point WHERE path = ANY($1::text[])", paths)
	if err != nil {
		return nil, err
	}
	var id int32
	var path string
	_, err = pgx.ForEachRow(rows, []any{&id, &path}, func() error {
		unknown[point.Path(path)] = id
		return nil
	})
	return unknown, err
}

const copyInto = " (time, value, id, tag, exact, text, octets) FROM STDIN BINARY"

// put copies rows that cannot exist yet straight into the table, and merges the others. If another writer was
// faster, all rows are merged.
func (s *appends) put(ctx context.Context, l *row.Load) error {
	late := l.Late
	if len(l.Fresh) > 0 {
		if _, err := s.Conn.Exec(ctx, "SAVEPOINT fresh"); err != nil {
			return err
		}
		_, err := s.Conn.PgConn().CopyFrom(ctx, l.Reader(l.Fresh), "COPY sample"+copyInto)
		switch {
		case connection.StateOf(err) == connection.StateUnique:
			if _, err := s.Conn.Exec(ctx, "ROLLBACK TO SAVEPOINT fresh"); err != nil {
				return err
			}
			late = l.All
		case err != nil:
			return err
		default:
			l.CountFresh()
		}
	}
	if len(late) == 0 {
		return nil
	}
	return s.merge(ctx, l, late)
}

// merge replaces rows with the same point and time, and counts by day.
func (s *appends) merge(ctx context.Context, l *row.Load, late []row.Ref) error {
	_, err := s.Conn.Exec(ctx, `CREATE TEMP TABLE IF NOT EXISTS incoming (time timestamptz, value float8, id int, tag smallint,
		exact bigint, text text, octets bytea) ON COMMIT DELETE ROWS`)
	if err != nil {
		return err
	}
	if _, err = s.Conn.PgConn().CopyFrom(ctx, l.Reader(late), "COPY incoming"+copyInto); err != nil {
		return err
	}
	first, last := row.Span(late)
	var other int64
	err = s.Conn.QueryRow(ctx, `SELECT count(*) FROM sample s JOIN incoming i ON s.id = i.id AND s.time = i.time
		WHERE s.time >= $1::timestamptz AND s.time <= $2::timestamptz
		AND (s.value, s.tag, s.exact, s.text, s.octets) IS DISTINCT FROM (i.value, i.tag, i.exact, i.text, i.octets)`, first, last).Scan(&other)
	if err != nil {
		return err
	}
	l.Overwritten += other
	updated, err := s.Conn.Exec(ctx, `UPDATE sample s SET value = i.value, tag = i.tag, exact = i.exact, text = i.text, octets = i.octets
		FROM incoming i WHERE s.id = i.id AND s.time = i.time AND s.time >= $1::timestamptz AND s.time <= $2::timestamptz`, first, last)
	if err != nil {
		return err
	}
	l.Replaced += updated.RowsAffected()
	if updated.RowsAffected() == int64(len(late)) {
		return nil
	}
	return s.insert(ctx, l, int64(len(late))-updated.RowsAffected())
}

// insert inserts the rows that have no predecessor in the table.
func (s *appends) insert(ctx context.Context, l *row.Load, expected int64) error {
	rows, err := s.Conn.Query(ctx, `WITH stored AS (
			INSERT INTO sample (time, value, id, tag, exact, text, octets)
			SELECT time, value, id, tag, exact, text, octets FROM incoming ORDER BY id, time ON CONFLICT DO NOTHING RETURNING time)
		SELECT floor(extract(epoch FROM time) / 86400)::int, count(*) FROM stored GROUP BY 1`)
	if err != nil {
		return err
	}
	var day int32
	var n int64
	_, err = pgx.ForEachRow(rows, []any{&day, &n}, func() error {
		l.Added[store.Day(day)] += n
		expected -= n
		return nil
	})
	if err == nil && expected > 0 {
		return fault.E("postgres.Append", fault.Unavailable, "", errRace)
	}
	return err
}

// count adds the new samples to this writer's figures of their days, within a transaction.
func (s *appends) count(ctx context.Context, l *row.Load) error {
	batch := &pgx.Batch{}
	for _, day := range slices.Sorted(maps.Keys(l.Newest)) {
		// A hypertable recreates a day that another node has dropped since.
		batch.Queue("INSERT INTO day (day) VALUES ($1) ON CONFLICT DO NOTHING", day.Start())
		batch.Queue(`INSERT INTO tally VALUES ($1, $2, $3, $4) ON CONFLICT (day, writer)
			DO UPDATE SET samples = tally.samples + $3, newest = greatest(tally.newest, $4)`,
			day.Start(), s.options.Writer, l.Added[day], time.UnixMicro(l.Newest[day]).UTC())
	}
	return s.Conn.SendBatch(ctx, batch).Close()
}
