package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/row"
)

// page is how many samples are fetched at once. No connection is held while they are used, so that emit may
// query the store.
const page = 32 << 10

// mostPoints is the maximum number of points in one query.
const mostPoints = 2000

// queries answers queries.
type queries struct{ *server }

// Read implements store.Store. Samples stored meanwhile may be part of the answer.
func (s *queries) Read(ctx context.Context, r store.Range, emit func([]point.Sample) error) error {
	const op = "postgres.Read"
	if err := r.Check(op); err != nil {
		return err
	}
	return s.scan(ctx, op, &r, func(i int, run []point.Sample) error {
		for j := range run {
			run[j].Point = r.Points[i]
		}
		return emit(run)
	})
}

// scan calls each with runs of samples, without their paths, of the range's point i: by point in the order
// requested, then time. The slice is reused.
func (s *queries) scan(ctx context.Context, op string, r *store.Range, each func(i int, run []point.Sample) error) error {
	ids, err := s.find(ctx, op, r.Points)
	if err != nil || !r.From.Before(r.To) {
		return err
	}
	c := &cursor{store: s, op: op, r: r, ids: ids, from: r.From}
	for c.next < len(ids) {
		if err := c.fetch(ctx); err != nil {
			return err
		}
		if err := c.give(each); err != nil {
			return err
		}
	}
	return nil
}

var errOrder = errors.New("the server gave samples out of order")

// cursor reads a range page by page.
type cursor struct {
	store *queries
	op    string
	r     *store.Range
	ids   []int32 // by the range's points, 0 for one unknown to the store

	next int       // point to continue with
	from time.Time // start for that point; the others start at the beginning of the range
	rows []point.Sample
	of   []int // index of the point, per row
}

// fetch fetches the next page.
func (c *cursor) fetch(ctx context.Context) error {
	c.rows, c.of = c.rows[:0], c.of[:0]
	wanted, most, limit := mostPoints, page, math.MaxInt32
	if c.r.Limit > 0 { // as many points as fill a page
		limit = min(c.r.Limit, limit)
		wanted, most = max(1, min(mostPoints, page/limit)), math.MaxInt32
	}
	return c.ask(ctx, c.next, min(c.next+wanted, len(c.ids)), [2]int{limit, most})
}

// ask runs the query for some of the points, with the maximum samples per point and in total. The rows come
// in the order of the numbers, because the subquery depends on them.
func (c *cursor) ask(ctx context.Context, first, last int, limits [2]int) error {
	// The point being continued may start later than the others, and so has its own query.
	query := `SELECT u.n, ` + row.SampleColumns + ` FROM unnest($1::int[]) WITH ORDINALITY u(id, n), LATERAL (
		SELECT * FROM sample s WHERE s.id = u.id AND s.time >= $2::timestamptz AND s.time < $3::timestamptz` +
		c.where() + ` ORDER BY s.time` + c.direction() + ` LIMIT $4::int) s LIMIT $5::int`
	from := c.r.From
	if c.from.After(from) {
		from, last = c.from, first+1
	}
	err := c.store.ask(ctx, c.op, query, func(v [][]byte) error {
		i := first + int(binary.BigEndian.Uint64(v[0])) - 1
		if n := len(c.of); n > 0 && i < c.of[n-1] {
			return fault.E(c.op, fault.Internal, string(c.r.Points[i]), errOrder)
		}
		c.of = append(c.of, i)
		c.rows = append(c.rows, row.SampleOf(v[1:]))
		return nil
	}, c.ids[first:last], from, c.r.To, limits[0], limits[1])
	if err != nil {
		return err
	}
	if len(c.rows) < limits[1] {
		c.next, c.from = last, c.r.From
		return nil
	}
	c.next = c.of[len(c.of)-1]
	c.from = c.rows[len(c.rows)-1].Time.Add(time.Microsecond)
	return nil
}

func (c *cursor) where() string {
	if c.r.GoodOnly {
		return " AND s.tag & 128 = 0"
	}
	return ""
}

func (c *cursor) direction() string {
	if c.r.Limit > 0 && c.r.Newest {
		return " DESC"
	}
	return ""
}

// give passes on the page point by point.
func (c *cursor) give(each func(i int, run []point.Sample) error) error {
	for first := 0; first < len(c.rows); {
		last := first + 1
		for last < len(c.rows) && c.of[last] == c.of[first] {
			last++
		}
		run := c.rows[first:last]
		if c.r.Limit > 0 && c.r.Newest {
			slices.Reverse(run)
		}
		if err := each(c.of[first], run); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// find returns the numbers of points, 0 for those unknown to the store.
func (s *server) find(ctx context.Context, op string, paths []point.Path) ([]int32, error) {
	if err := s.usable(ctx, op); err != nil {
		return nil, err
	}
	ids := make([]int32, len(paths))
	var unknown []string
	s.mu.RLock()
	for i, p := range paths {
		if ids[i] = s.ids[p]; ids[i] == 0 && p.Validate() == nil {
			unknown = append(unknown, string(p))
		}
	}
	s.mu.RUnlock()
	if len(unknown) == 0 {
		return ids, nil
	}
	found := make(map[point.Path]int32)
	err := s.ask(ctx, op, "SELECT id, path FROM point WHERE path = ANY($1::text[])", func(v [][]byte) error {
		found[point.Path(v[1])] = int32(binary.BigEndian.Uint32(v[0]))
		return nil
	}, unknown)
	for i, p := range paths {
		if ids[i] == 0 {
			ids[i] = found[p]
		}
	}
	return ids, err
}

// Points implements store.Store.
func (s *queries) Points(ctx context.Context) ([]point.Path, error) {
	var out []point.Path
	err := s.ask(ctx, "postgres.Points", "SELECT path FROM point ORDER BY path", func(v [][]byte) error {
		out = append(out, point.Path(v[0]))
		return nil
	})
	return out, err
}
