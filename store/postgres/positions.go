package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/store"
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

// Positions implements store.Store: those of all origins, also of other writers.
func (s *Store) Positions(ctx context.Context) (map[string]store.Position, error) {
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
func (s *Store) Cursor(ctx context.Context) (log string, sequence uint64, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.connected(ctx, "postgres.Cursor"); err != nil {
		return "", 0, err
	}
	return s.cursor.Log, s.cursor.Sequence, nil
}

// Gaps implements store.Store: those of all origins.
func (s *Store) Gaps(ctx context.Context, limit int) ([]store.Gap, error) {
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

// save writes positions, gaps and cursor, within a transaction. The caller holds write.
func (s *Store) save(ctx context.Context, e *store.Entry, replaced int64) error {
	batch := &pgx.Batch{}
	for _, origin := range e.Origins() {
		p := e.Positions[origin]
		batch.Queue(`INSERT INTO position (origin, sequence, samples, stored, repeated, missing, refused, time, left_out)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (origin) DO UPDATE
			SET sequence = $2, samples = $3, stored = $4, repeated = $5, missing = $6, refused = $7, time = $8, left_out = $9`,
			origin, int64(p.Sequence), int64(p.Samples), int64(p.Stored), int64(p.Repeated), int64(p.Missing), int64(p.Refused), p.Time, int64(p.Left))
	}
	for _, g := range e.Gaps {
		batch.Queue("INSERT INTO gap (origin, first, last, samples, reason, noticed) VALUES ($1, $2, $3, $4, $5, $6)",
			g.Origin, int64(g.First), int64(g.Last), int64(g.Samples), g.Reason, g.Noticed)
	}
	batch.Queue("UPDATE writer SET log = $2, sequence = $3, replaced = replaced + $4 WHERE name = $1",
		s.options.Writer, e.Cursor.Log, int64(e.Cursor.Sequence), replaced)
	return s.conn.SendBatch(ctx, batch).Close()
}

// claim holds the origins of the blocks. The caller holds write.
func (s *Store) claim(ctx context.Context, op string, origins []string) error {
	for _, o := range origins {
		if !storable(o) {
			return fault.E(op, fault.Invalid, o, errOrigin)
		}
		if err := s.hold(ctx, op, o); err != nil {
			return err
		}
	}
	return nil
}
