package duckdb

import (
	"math"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// row is a stored sample without its point.
type row struct {
	time    int64 // microseconds
	value   point.Value
	quality point.Quality
}

func (r *row) sample(path point.Path) point.Sample {
	return point.Sample{Point: path, Time: engine.Time(r.time), Value: r.value, Quality: r.quality}
}

// columns are the sample columns of a chunk: of a table, which has tags, or of a file.
type columns struct {
	rows  int
	id    []uint32
	time  []int64
	value []float64

	tag   []tag              // of a table; nil for a file
	words map[float64]string // of a table: the texts by the numbers in value

	exact   []int64
	isExact engine.Valid
	text    engine.Texts
	kind    []point.Kind
	quality []point.Quality
}

// columnsOf are those of a file's chunk with sampleColumns.
func columnsOf(ch *engine.Chunk) columns {
	return columns{
		rows: ch.Rows,
		id:   engine.Numbers[uint32](ch, 0), time: engine.Numbers[int64](ch, 1),
		value: engine.Numbers[float64](ch, 2),
		exact: engine.Numbers[int64](ch, 3), isExact: ch.Valid(3), text: ch.Texts(4),
		kind: engine.Numbers[point.Kind](ch, 5), quality: engine.Numbers[point.Quality](ch, 6),
	}
}

// numbersOf is columnsOf for a chunk with numberColumns: only numberAt may be asked for values.
func numbersOf(ch *engine.Chunk) columns {
	return columns{
		rows: ch.Rows,
		id:   engine.Numbers[uint32](ch, 0), time: engine.Numbers[int64](ch, 1),
		value: engine.Numbers[float64](ch, 2),
		kind:  engine.Numbers[point.Kind](ch, 3), quality: engine.Numbers[point.Quality](ch, 4),
	}
}

// tableColumnsOf are those of a table's chunk with tableColumns. Without words only numberAt may be
// asked for the values of texts.
func tableColumnsOf(ch *engine.Chunk, words map[float64]string) columns {
	return columns{
		rows: ch.Rows,
		id:   engine.Numbers[uint32](ch, 0), time: engine.Numbers[int64](ch, 1),
		value: engine.Numbers[float64](ch, 2), tag: engine.Numbers[tag](ch, 3), words: words,
	}
}

// at returns the sample in the row.
func (c *columns) at(i int) row {
	return row{time: c.time[i], value: c.valueAt(i), quality: c.qualityAt(i)}
}

func (c *columns) qualityAt(i int) point.Quality {
	if c.tag != nil {
		return c.tag[i].quality()
	}
	return c.quality[i]
}

func (c *columns) kindAt(i int) point.Kind {
	if c.tag != nil {
		return c.tag[i].kind()
	}
	return c.kind[i]
}

func (c *columns) valueAt(i int) point.Value {
	if c.tag != nil {
		if g := c.tag[i]; g.kind() != point.Text {
			return g.number(c.value[i])
		}
		return point.TextOf(c.words[c.value[i]])
	}
	switch k := c.kind[i]; k {
	case point.Float:
		if c.isExact.Has(i) {
			return point.FloatOf(math.Copysign(0, -1))
		}
		return point.FloatOf(c.value[i])
	case point.Int:
		if c.isExact.Has(i) {
			return point.IntOf(c.exact[i])
		}
		return point.IntOf(int64(c.value[i]))
	case point.Bool:
		return point.BoolOf(c.value[i] != 0)
	case point.Text:
		return point.TextOf(c.text.At(i))
	case point.None:
	}
	return point.Value{}
}

// numberAt returns the number in the row, as point.Value.Number does.
func (c *columns) numberAt(i int) (float64, bool) {
	switch c.kindAt(i) {
	case point.Float, point.Int, point.Bool:
		return c.value[i], true
	case point.None, point.Text:
	}
	return 0, false
}
