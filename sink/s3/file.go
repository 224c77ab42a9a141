package s3

import (
	"cmp"
	"slices"
	"time"

	"voltbus/internal/parquet"
	"voltbus/point"
	"voltbus/sink/destination"
)

// file is the rows of one day in a Write, by index.
type file struct {
	day  string // YYYY-MM-DD in UTC
	part string // of its first row
	rows []int
}

const dayMicros = int64(24 * time.Hour / time.Microsecond)

// split divides rows by day. Rows of a point are in the order of time in the end, and points in that of their names: so files are
// small, and readers skip what they do not look for.
func split(rows []destination.Row) []*file {
	days := map[int64]*file{}
	var order []*file
	var last *file
	lastDay := int64(0)
	for i := range rows {
		day := floor(rows[i].Time)
		if last == nil || day != lastDay {
			f := days[day]
			if f == nil {
				f = &file{day: time.UnixMicro(rows[i].Time).UTC().Format(time.DateOnly), part: rows[i].Part}
				days[day], order = f, append(order, f)
			}
			last, lastDay = f, day
		}
		last.rows = append(last.rows, i)
	}
	for _, f := range order {
		f.rows = sorted(rows, f.rows)
	}
	return order
}

func floor(micro int64) int64 {
	day := micro / dayMicros
	if micro%dayMicros < 0 {
		day--
	}
	return day
}

func sorted(rows []destination.Row, indexes []int) []int {
	of := map[*destination.Shape][]int{}
	var shapes []*destination.Shape
	for _, i := range indexes {
		s := rows[i].Shape
		list, known := of[s]
		if !known {
			shapes = append(shapes, s)
		}
		of[s] = append(list, i)
	}
	slices.SortStableFunc(shapes, func(a, b *destination.Shape) int { return cmp.Compare(a.Name, b.Name) })
	out := indexes[:0]
	byTime := func(a, b int) int { return cmp.Compare(rows[a].Time, rows[b].Time) }
	for _, s := range shapes {
		list := of[s]
		if !slices.IsSortedFunc(list, byTime) {
			slices.SortStableFunc(list, byTime)
		}
		out = append(out, list...)
	}
	return out
}

// encode returns rows as a file of Parquet. Each tag has a column.
func encode(rows []destination.Row, indexes []int, tags []string) ([]byte, error) {
	f, err := parquet.New()
	if err != nil {
		return nil, err
	}
	name, at := f.Text("point", false), f.Time("time")
	value, exact, text := f.Float("value"), f.Int("exact"), f.Text("text", true)
	quality, unit := f.Text("quality", false), f.Text("unit", true)
	columns := make([]*parquet.Column, len(tags))
	for i, tag := range tags {
		columns[i] = f.Text(tag, true)
	}
	for _, i := range indexes {
		r := &rows[i]
		name.Text(r.Name)
		at.Int(r.Time)
		put(r.Value, value, exact, text)
		quality.Text(r.Quality.String())
		optional(unit, r.Unit)
		putTags(columns, tags, r.Tags)
		f.Row()
	}
	return f.Close(), nil
}

// put adds a value: a number or truth value, a whole number in exact, too, or a text.
func put(v point.Value, value, exact, text *parquet.Column) {
	if n, ok := v.Number(); ok {
		value.Float(n)
	} else {
		value.None()
	}
	if n, ok := v.Int(); ok && v.Kind() == point.Int {
		exact.Int(n)
	} else {
		exact.None()
	}
	if v.Kind() == point.Text {
		text.Text(v.Text())
	} else {
		text.None()
	}
}

func optional(c *parquet.Column, v string) {
	if v == "" {
		c.None()
		return
	}
	c.Text(v)
}

// putTags adds the tags of a row, which are by name as the columns are.
func putTags(columns []*parquet.Column, names []string, tags []destination.Tag) {
	for i, name := range names {
		if len(tags) > 0 && tags[0].Name == name {
			columns[i].Text(tags[0].Text)
			tags = tags[1:]
			continue
		}
		columns[i].None()
	}
}
