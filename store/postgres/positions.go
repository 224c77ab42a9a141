package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/row"
)

const selectPositions = "SELECT origin, sequence, samples, stored, repeated, missing, refused, time, left_out FROM position"

func scanPositions(rows pgx.Rows) (map[string]store.Position, error) {
	out := make(map[string]store.Position)
	var origin string
	var n [7]int64
	var at time.Time
	_, err := pgx.ForEachRow(rows, []any{&origin, &n[0], &n[1], &n[2], &n[3], &n[4], &n[5], &at, &n[6]}, func() error {
		out[origin] = store.Position{
			Sequence: uint64(n[0]), Samples: uint64(n[1]), Stored: uint64(n[2]), Repeated: uint64(n[3]),
			Missing: uint64(n[4]), Refused: uint64(n[5]), Left: uint64(n[6]), Time: at.UTC(),
		}
		return nil
	})
	return out, err
}

// Positions implements store.Store: those of all origins, including other writers'.
func (s *queries) Positions(ctx context.Context) (map[string]store.Position, error) {
	const op = "postgres.Positions"
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, selectPositions)
	if err != nil {
		return nil, s.fail(op, err)
	}
	out, err := scanPositions(rows)
	if err != nil {
		return nil, s.fail(op, err)
	}
	return out, nil
}

// Cursor implements store.Store: that of this store's writer.
func (s *writer) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.connected(ctx, "postgres.Cursor"); err != nil {
		return "", 0, err
	}
	return s.cursor.Log, s.cursor.Sequence, nil
}

// Gaps implements store.Store: those of all origins.
func (s *queries) Gaps(ctx context.Context, limit int) ([]store.Gap, error) {
	const op = "postgres.Gaps"
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, "SELECT origin, first, last, samples, reason, noticed FROM gap ORDER BY number DESC LIMIT $1", max(0, limit))
	if err != nil {
		return nil, s.fail(op, err)
	}
	var out []store.Gap
	var g store.Gap
	var n [3]int64
	_, err = pgx.ForEachRow(rows, []any{&g.Origin, &n[0], &n[1], &n[2], &g.Reason, &g.Noticed}, func() error {
		g.First, g.Last, g.Samples, g.Noticed = uint64(n[0]), uint64(n[1]), uint64(n[2]), g.Noticed.UTC()
		out = append(out, g)
		return nil
	})
	if err != nil {
		return nil, s.fail(op, err)
	}
	return out, nil
}

// lockPositions returns the positions of origins, and locks them until the transaction ends. The names
// ascend, so that two writers do not deadlock. The caller holds write.
func (s *appends) lockPositions(ctx context.Context, origins []string) (map[string]store.Position, error) {
	out, err := s.selectLocked(ctx, origins)
	if err != nil || len(out) == len(origins) {
		return out, err
	}
	_, err = s.Conn.Exec(ctx, `INSERT INTO position (origin, sequence, samples, stored, repeated, missing, refused, time, left_out)
		SELECT origin, 0, 0, 0, 0, 0, 0, $2::timestamptz, 0 FROM unnest($1::text[]) WITH ORDINALITY u(origin, n) ORDER BY n ON CONFLICT DO NOTHING`,
		origins, time.Unix(0, 0).UTC())
	if err != nil {
		return nil, err
	}
	return s.selectLocked(ctx, origins)
}

func (s *appends) selectLocked(ctx context.Context, origins []string) (map[string]store.Position, error) {
	rows, err := s.Conn.Query(ctx, selectPositions+" WHERE origin = ANY($1::text[]) ORDER BY origin FOR UPDATE", origins)
	if err != nil {
		return nil, err
	}
	return scanPositions(rows)
}

// save writes positions, gaps and cursor, within a transaction: one statement for all origins. The caller holds write.
func (s *appends) save(ctx context.Context, e *store.Entry, blocks []*point.Block, l *row.Load) error {
	batch := &pgx.Batch{}
	c := columnsOf(e)
	batch.Queue(`UPDATE position p SET sequence = u.sequence, samples = u.samples, stored = u.stored, repeated = u.repeated,
		missing = u.missing, refused = u.refused, time = u.time, left_out = u.left_out
		FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::timestamptz[], $9::bigint[])
		u(origin, sequence, samples, stored, repeated, missing, refused, time, left_out) WHERE p.origin = u.origin`,
		c.origins, c.sequence, c.samples, c.stored, c.repeated, c.missing, c.refused, c.time, c.left)
	s.saveWays(batch, blocks)
	for _, g := range e.Gaps {
		batch.Queue("INSERT INTO gap (origin, first, last, samples, reason, noticed) VALUES ($1, $2, $3, $4, $5, $6)",
			g.Origin, int64(g.First), int64(g.Last), int64(g.Samples), g.Reason, g.Noticed)
	}
	batch.Queue("UPDATE writer SET log = $2, sequence = $3, replaced = replaced + $4, overwritten = overwritten + $5 WHERE name = $1",
		s.options.Writer, e.Cursor.Log, int64(e.Cursor.Sequence), l.Replaced, l.Overwritten)
	return s.Conn.SendBatch(ctx, batch).Close()
}

// positionColumns are positions as arrays.
type positionColumns struct {
	origins                                                     []string
	sequence, samples, stored, repeated, missing, refused, left []int64
	time                                                        []time.Time
}

func columnsOf(e *store.Entry) positionColumns {
	c := positionColumns{origins: e.Origins()}
	for _, origin := range c.origins {
		p := e.Positions[origin]
		c.sequence, c.samples = append(c.sequence, int64(p.Sequence)), append(c.samples, int64(p.Samples))
		c.stored, c.repeated = append(c.stored, int64(p.Stored)), append(c.repeated, int64(p.Repeated))
		c.missing, c.refused = append(c.missing, int64(p.Missing)), append(c.refused, int64(p.Refused))
		c.left, c.time = append(c.left, int64(p.Left)), append(c.time, p.Time)
	}
	return c
}
