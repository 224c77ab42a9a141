package postgres

import (
	"context"
	"encoding/binary"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/row"
)

// firstDays is how many days the first query for the newest samples covers; each further query covers more.
// Most points have a sample today.
const firstDays = 2

// Latest implements store.Store. It queries the server, since other nodes may have written newer samples than
// this one; the server has the newest days in memory.
func (s *queries) Latest(ctx context.Context, paths []point.Path) ([]point.Sample, error) {
	const op = "postgres.Latest"
	ids, err := s.find(ctx, op, paths)
	if err != nil {
		return nil, err
	}
	out := make([]point.Sample, len(paths))
	var left []int // points still to find
	for i, id := range ids {
		if id != 0 {
			left = append(left, i)
		}
	}
	if len(left) == 0 {
		return out, nil
	}
	days, err := s.filled(ctx, op)
	if err != nil {
		return nil, err
	}
	for n := firstDays; len(days) > 0 && len(left) > 0; n *= 4 {
		some := days[max(0, len(days)-n):]
		days = days[:len(days)-len(some)]
		if left, err = s.newest(ctx, op, newestOf{paths, ids, out, left, some}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newestOf is one query for the newest samples.
type newestOf struct {
	paths []point.Path
	ids   []int32
	out   []point.Sample
	left  []int       // indices into the others
	days  []store.Day // ascending
}

// newest fills in the samples found in the days, and returns the indices of the others.
func (s *queries) newest(ctx context.Context, op string, q newestOf) ([]int, error) {
	ids := make([]int32, len(q.left))
	for i, at := range q.left {
		ids[i] = q.ids[at]
	}
	err := s.ask(ctx, op, `SELECT u.n, `+row.SampleColumns+` FROM unnest($1::int[]) WITH ORDINALITY u(id, n), LATERAL (
		SELECT * FROM sample s WHERE s.id = u.id AND s.time >= $2::timestamptz AND s.time < $3::timestamptz
		ORDER BY s.time DESC LIMIT 1) s`, func(v [][]byte) error {
		at := q.left[binary.BigEndian.Uint64(v[0])-1]
		q.out[at] = row.SampleOf(v[1:])
		q.out[at].Point = q.paths[at]
		return nil
	}, ids, q.days[0].Start(), q.days[len(q.days)-1].End())
	var left []int
	for _, at := range q.left {
		if q.out[at].Time.IsZero() {
			left = append(left, at)
		}
	}
	return left, err
}

// filled lists the days that have samples, oldest first.
func (s *queries) filled(ctx context.Context, op string) ([]store.Day, error) {
	var out []store.Day
	err := s.ask(ctx, op, "SELECT day - date '1970-01-01' FROM tally GROUP BY day HAVING sum(samples) > 0 ORDER BY day", func(v [][]byte) error {
		out = append(out, store.Day(int32(binary.BigEndian.Uint32(v[0]))))
		return nil
	})
	return out, err
}
