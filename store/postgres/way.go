package postgres

import (
	"context"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/connection"
)

// saveWays queues how far this writer's log has the origins of the blocks, whether stored now or earlier by
// another writer.
func (s *appends) saveWays(batch *pgx.Batch, blocks []*point.Block) {
	last := make(map[string]*point.Block)
	for _, b := range blocks {
		if l := last[b.Origin]; l == nil || b.Sequence > l.Sequence {
			last[b.Origin] = b
		}
	}
	origins := slices.Sorted(maps.Keys(last))
	var sequence, samples, refused []int64
	for _, origin := range origins {
		b := last[origin]
		sequence, samples, refused = append(sequence, int64(b.Sequence)), append(samples, int64(b.End())), append(refused, int64(b.Refused))
	}
	batch.Queue(`INSERT INTO way (writer, origin, sequence, samples, refused)
		SELECT $1::text, u.origin, u.sequence, u.samples, u.refused
		FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) u(origin, sequence, samples, refused)
		ON CONFLICT (writer, origin) DO UPDATE SET sequence = excluded.sequence, samples = excluded.samples, refused = excluded.refused
		WHERE way.sequence < excluded.sequence`, s.options.Writer, origins, sequence, samples, refused)
}

// Ways returns, per origin, the last block that came through this writer's log: Sequence, Samples and Refused
// of its position. Another writer may have stored more of the origin, which this writer's log does not have.
func (s *queries) Ways(ctx context.Context) (map[string]store.Position, error) {
	const op = "postgres.Ways"
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, "SELECT origin, sequence, samples, refused FROM way WHERE writer = $1", s.options.Writer)
	if err != nil {
		return nil, s.fail(op, err)
	}
	out := make(map[string]store.Position)
	var origin string
	var n [3]int64
	_, err = pgx.ForEachRow(rows, []any{&origin, &n[0], &n[1], &n[2]}, func() error {
		out[origin] = store.Position{Sequence: uint64(n[0]), Samples: uint64(n[1]), Refused: uint64(n[2])}
		return nil
	})
	if err != nil {
		return nil, s.fail(op, err)
	}
	return out, nil
}

// Own claims the origins whose numbers only this store's node assigns. As long as it is connected no other store can own
// them: a copy of the node's data directory is refused. It returns fault.Conflict if another one owns them now. While the
// server is unavailable, the next connection claims them.
func (s *writer) Own(ctx context.Context, origins ...string) error {
	const op = "postgres.Own"
	for _, origin := range origins {
		if !connection.Storable(origin) {
			return fault.E(op, fault.Invalid, origin, errOrigin)
		}
	}
	s.write.Lock()
	defer s.write.Unlock()
	s.own = origins
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	if s.Conn == nil || s.Conn.IsClosed() {
		return nil
	}
	return s.claim(ctx, op)
}

// claim claims the writer's name and the origins that it owns. The caller holds write.
func (s *writer) claim(ctx context.Context, op string) error {
	if err := s.hold(ctx, op, s.options.Writer); err != nil {
		return err
	}
	for _, origin := range s.own {
		if err := s.hold(ctx, op, origin); err != nil {
			return err
		}
	}
	return nil
}
