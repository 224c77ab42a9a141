package duckdb

import (
	"math"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// Integers up to ±2^53 are kept by a double without loss; larger ones also stand in "exact".
const exactBelow = 1 << 53

// negativeZero is the one float that DuckDB's compression takes for another: it has a 0 in "exact".
const negativeZero = 1 << 63

// row is a stored sample without its point.
type row struct {
	time    int64 // microseconds
	value   point.Value
	quality point.Quality
}

func (r *row) sample(path point.Path) point.Sample {
	return point.Sample{Point: path, Time: engine.Time(r.time), Value: r.value, Quality: r.quality}
}

// columns are the sample columns of a chunk; see sampleColumns for their order.
type columns struct {
	rows    int
	id      []uint32
	time    []int64
	value   []float64
	exact   []int64
	isExact engine.Valid
	text    engine.Texts
	kind    []point.Kind
	quality []point.Quality
}

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

// at returns the sample in the row.
func (c *columns) at(i int) row {
	return row{time: c.time[i], value: c.valueAt(i), quality: c.quality[i]}
}

func (c *columns) valueAt(i int) point.Value {
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
	switch c.kind[i] {
	case point.Float, point.Int, point.Bool:
		return c.value[i], true
	case point.None, point.Text:
	}
	return 0, false
}

// stored returns how a number is written: its double and, where that is not enough, more.
func stored(kind point.Kind, bits uint64) (value float64, exact int64, isExact bool) {
	switch kind {
	case point.Float:
		return math.Float64frombits(bits), 0, bits == negativeZero
	case point.Int:
		v := int64(bits)
		return float64(v), v, v > exactBelow || v < -exactBelow
	case point.Bool:
		return float64(bits), 0, false
	case point.None, point.Text:
	}
	return 0, 0, false
}
