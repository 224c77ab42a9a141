package sample

import (
	"math"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// Row is a stored sample without its point.
type Row struct {
	Time    int64 // microseconds
	Value   point.Value
	Quality point.Quality
}

// Sample returns the sample of the point.
func (r *Row) Sample(path point.Path) point.Sample {
	return point.Sample{Point: path, Time: engine.Time(r.Time), Value: r.Value, Quality: r.Quality}
}

// Columns are the sample columns of a chunk: of a table, which has tags, or of a file.
type Columns struct {
	Rows  int
	ID    []uint32
	Time  []int64
	Value []float64

	tag   []tag              // for a table; nil for a file
	words map[float64]string // for a table: the texts by the numbers in value

	exact   []int64
	isExact engine.Valid
	text    engine.Texts
	kind    []point.Kind
	quality []point.Quality
}

// ColumnsOf returns the columns of a file's chunk with FileColumns.
func ColumnsOf(ch *engine.Chunk) Columns {
	return Columns{
		Rows: ch.Rows,
		ID:   engine.Numbers[uint32](ch, 0), Time: engine.Numbers[int64](ch, 1),
		Value: engine.Numbers[float64](ch, 2),
		exact: engine.Numbers[int64](ch, 3), isExact: ch.Valid(3), text: ch.Texts(4),
		kind: engine.Numbers[point.Kind](ch, 5), quality: engine.Numbers[point.Quality](ch, 6),
	}
}

// NumbersOf is ColumnsOf for a chunk with NumberColumns: only NumberAt may be used for values.
func NumbersOf(ch *engine.Chunk) Columns {
	return Columns{
		Rows: ch.Rows,
		ID:   engine.Numbers[uint32](ch, 0), Time: engine.Numbers[int64](ch, 1),
		Value: engine.Numbers[float64](ch, 2),
		kind:  engine.Numbers[point.Kind](ch, 3), quality: engine.Numbers[point.Quality](ch, 4),
	}
}

// TableColumnsOf returns the columns of a table's chunk with TableColumns. Without words only NumberAt may be
// used for texts.
func TableColumnsOf(ch *engine.Chunk, words map[float64]string) Columns {
	return Columns{
		Rows: ch.Rows,
		ID:   engine.Numbers[uint32](ch, 0), Time: engine.Numbers[int64](ch, 1),
		Value: engine.Numbers[float64](ch, 2), tag: engine.Numbers[tag](ch, 3), words: words,
	}
}

// At returns the sample in the row.
func (c *Columns) At(i int) Row {
	return Row{Time: c.Time[i], Value: c.valueAt(i), Quality: c.QualityAt(i)}
}

// QualityAt returns the quality in the row.
func (c *Columns) QualityAt(i int) point.Quality {
	if c.tag != nil {
		return c.tag[i].quality()
	}
	return c.quality[i]
}

// KindAt returns the kind in the row.
func (c *Columns) KindAt(i int) point.Kind {
	if c.tag != nil {
		return c.tag[i].kind()
	}
	return c.kind[i]
}

func (c *Columns) valueAt(i int) point.Value {
	if c.tag != nil {
		if g := c.tag[i]; g.kind() != point.Text {
			return g.number(c.Value[i])
		}
		return point.TextOf(c.words[c.Value[i]])
	}
	switch k := c.kind[i]; k {
	case point.Float:
		if c.isExact.Has(i) {
			return point.FloatOf(math.Copysign(0, -1))
		}
		return point.FloatOf(c.Value[i])
	case point.Int:
		if c.isExact.Has(i) {
			return point.IntOf(c.exact[i])
		}
		return point.IntOf(int64(c.Value[i]))
	case point.Bool:
		return point.BoolOf(c.Value[i] != 0)
	case point.Text:
		return point.TextOf(c.text.At(i))
	case point.None:
	}
	return point.Value{}
}

// NumberAt returns the number in the row, as point.Value.Number does.
func (c *Columns) NumberAt(i int) (float64, bool) {
	switch c.KindAt(i) {
	case point.Float, point.Int, point.Bool:
		return c.Value[i], true
	case point.None, point.Text:
	}
	return 0, false
}
