package duckdb

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
)

// mix writes the added samples to a file, so that they can be read like a day. Points unknown to the store
// get numbers after the requested ones.
func (e *export) mix(ctx context.Context, samples map[point.Path][]point.Sample) error {
	if len(samples) == 0 {
		return nil
	}
	e.added, e.mixed = filepath.Join(e.open, "added"), map[store.Day]bool{}
	return e.s.Alone(func(c *engine.Conn) error {
		paths := slices.Sorted(maps.Keys(samples))
		ids := e.numberAdded(paths)
		if err := putPoints(ctx, c, ids, paths); err != nil {
			return err
		}
		d, err := e.putAdded(ctx, c, ids, paths, samples)
		if err != nil {
			return err
		}
		return c.Exec(ctx, "COPY (SELECT p.path AS point, "+sample.FileColumns+" FROM ("+d.RowsSQL()+") JOIN points p USING (id) ORDER BY time) TO "+
			engine.Quote(e.added)+" (FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1)")
	})
}

// numberAdded returns the numbers of the points.
func (e *export) numberAdded(paths []point.Path) []uint32 {
	next := uint32(0)
	if n := len(e.ids); n > 0 {
		next = e.ids[n-1] + 1
	}
	known := make(map[point.Path]uint32, len(e.ids))
	for i, n := range e.numbers {
		if n >= 0 {
			known[e.r.Points[i]] = uint32(n)
		}
	}
	out := make([]uint32, len(paths))
	for i, p := range paths {
		id, ok := known[p]
		if !ok {
			id = next
			next++
		}
		out[i] = id
	}
	return out
}

// putPoints creates a table with the paths of the numbers.
func putPoints(ctx context.Context, c *engine.Conn, ids []uint32, paths []point.Path) error {
	if err := c.Exec(ctx, "CREATE TABLE points(id UINTEGER, path VARCHAR)"); err != nil {
		return err
	}
	a, err := c.Appender("points", duck.TypeUInteger, duck.TypeVarchar)
	if err != nil {
		return err
	}
	defer a.Close()
	for len(ids) > 0 {
		n := min(len(ids), engine.ChunkRows)
		copy(engine.Column[uint32](a, 0), ids[:n])
		for i, p := range paths[:n] {
			a.Text(1, i, string(p))
		}
		if err := a.Append(n); err != nil {
			return err
		}
		ids, paths = ids[n:], paths[n:]
	}
	return a.Flush()
}

// putAdded creates a table like that of a day.
func (e *export) putAdded(ctx context.Context, c *engine.Conn, ids []uint32, paths []point.Path, samples map[point.Path][]point.Sample) (*day.Day, error) {
	d := &day.Day{Table: "added"}
	if err := sample.CreateTable(ctx, c, d.Table); err != nil {
		return nil, err
	}
	w, err := sample.OpenTable(c, d.Table, sample.Words{}, 0)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	for i, p := range paths {
		for list := range slices.Chunk(samples[p], engine.ChunkRows) {
			b := &point.Block{Points: paths[i : i+1]}
			for j := range list {
				b.Append(0, &list[j])
				e.mixed[store.DayOf(list[j].Time.UnixMicro())] = true
			}
			for at := 0; at < b.Len(); {
				end := min(b.Len(), at+w.Room())
				if err := w.Put(ids[i:i+1], b, at, end); err != nil {
					return nil, err
				}
				at = end
			}
			d.Stored += uint64(b.Len())
		}
	}
	d.Texts = w.Texts()
	return d, w.Flush()
}

// withAdded returns the days, including those that only have added samples.
func (e *export) withAdded(days []*day.Day) []*day.Day {
	if len(e.mixed) == 0 {
		return days
	}
	out, known := slices.Clone(days), map[store.Day]bool{}
	for _, d := range days {
		known[d.Key] = true
	}
	for key := range e.mixed {
		if !known[key] {
			out = append(out, &day.Day{Key: key})
		}
	}
	slices.SortFunc(out, func(a, b *day.Day) int { return cmp.Compare(a.Key, b.Key) })
	return out
}

// daySorted returns a query for the day's samples in the range, of points with some numbers, where added samples replace those
// with the same times, ordered by number and then time.
func (e *export) daySorted(d *day.Day, from, to uint32) string {
	all := *e.r
	all.GoodOnly = false // an added bad one replaces a good one
	var own, more string
	where := []string{fmt.Sprintf("id >= %d AND id < %d", from, to)}
	if !d.Empty() {
		own = "SELECT p.path AS point, d.* FROM (SELECT * FROM (" + e.s.SQL(d) + ")" + sample.Where(exactly([]*day.Day{d}, e.ids, &all)) +
			") d JOIN main.points p USING (id)"
	}
	if e.mixed[d.Key] {
		more = fmt.Sprintf("SELECT point, %s FROM read_parquet(%s) WHERE time >= make_timestamp(%d) AND time < make_timestamp(%d)",
			sample.FileColumns, engine.Quote(e.added), d.Key.Start().UnixMicro(), d.Key.End().UnixMicro())
	}
	if e.r.GoodOnly {
		where = append(where, day.NotBad)
	}
	both := own + more
	if own != "" && more != "" {
		both = "SELECT * FROM (" + own + ") o ANTI JOIN (" + more + ") m USING (id, time) UNION ALL BY NAME " + more
	}
	return "SELECT * FROM (" + both + ")" + sample.Where(where) + " ORDER BY id, time"
}
