package postgres

import (
	"context"
	"encoding/binary"
	"fmt"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/row"
)

// Aggregate implements store.Store. The samples are fetched and folded here, so that all stores agree.
func (s *queries) Aggregate(ctx context.Context, q store.Query) ([]store.Series, error) {
	const op = "postgres.Aggregate"
	if err := q.Check(op); err != nil {
		return nil, err
	}
	plan := store.NewPlan(&q)
	whole := plan.Range()
	out := make([]store.Series, len(q.Points))
	for i, p := range q.Points {
		out[i].Point = p
	}
	var fold *store.Fold
	at := -1
	finish := func() {
		if fold != nil {
			out[at].Buckets = fold.Buckets()
		}
	}
	err := s.scan(ctx, op, &whole, func(i int, run []point.Sample) error {
		if i != at {
			finish()
			fold, at = plan.Fold(i), i
		}
		for j := range run {
			fold.Add(run[j].Time.UnixMicro(), run[j].Value, run[j].Quality)
		}
		return plan.Err(op)
	})
	finish()
	if err == nil {
		err = plan.Err(op)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Count implements store.Store. The server counts.
func (s *queries) Count(ctx context.Context, q store.Query) ([][]uint32, error) {
	const op = "postgres.Count"
	if err := q.CheckCount(op); err != nil {
		return nil, err
	}
	ids, err := s.find(ctx, op, q.Points)
	if err != nil {
		return nil, err
	}
	tallies := make([]*store.Tally, len(ids))
	for i := range tallies {
		tallies[i] = store.NewTally(&q)
	}
	stride := fmt.Sprintf("%d microseconds", q.Step.Microseconds())
	err = s.ask(ctx, op, `SELECT u.n, date_bin($4::text::interval, s.time, $2::timestamptz), count(*)
		FROM unnest($1::int[]) WITH ORDINALITY u(id, n) JOIN sample s ON s.id = u.id
		WHERE s.time >= $2::timestamptz AND s.time < $3::timestamptz AND s.tag & 128 = 0 GROUP BY 1, 2`, func(v [][]byte) error {
		t := tallies[binary.BigEndian.Uint64(v[0])-1]
		t.Add(row.MicrosOf(v[1]), uint32(binary.BigEndian.Uint64(v[2])))
		return nil
	}, ids, q.From, q.To, stride)
	if err != nil {
		return nil, err
	}
	out := make([][]uint32, len(ids))
	for i, t := range tallies {
		out[i] = t.Counts()
	}
	return out, nil
}
