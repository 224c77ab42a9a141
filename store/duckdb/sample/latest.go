package sample

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// LatestWriter fills the table of latest samples, which has the columns of a closed day.
type LatestWriter struct {
	appender *engine.Appender
	n        int // rows in the chunk

	id      []uint32
	time    []int64
	value   []float64
	exact   []int64
	kind    []point.Kind
	quality []point.Quality

	isNumber, isExact, isText []uint64 // masks
}

// OpenLatest opens the table of latest samples.
func OpenLatest(c *engine.Conn) (*LatestWriter, error) {
	a, err := c.Appender("latest", duck.TypeUInteger, duck.TypeTimestamp, duck.TypeDouble, duck.TypeBigInt,
		duck.TypeVarchar, duck.TypeUTinyInt, duck.TypeUTinyInt)
	if err != nil {
		return nil, err
	}
	w := &LatestWriter{appender: a}
	w.begin()
	return w, nil
}

// begin starts a chunk.
func (w *LatestWriter) begin() {
	a := w.appender
	w.n = 0
	w.id, w.time = engine.Column[uint32](a, 0), engine.Column[int64](a, 1)
	w.value, w.exact = engine.Column[float64](a, 2), engine.Column[int64](a, 3)
	w.kind, w.quality = engine.Column[point.Kind](a, 5), engine.Column[point.Quality](a, 6)
	w.isNumber, w.isExact, w.isText = a.Nulls(2), a.Nulls(3), a.Nulls(4)
}

// end appends the chunk to the table and starts another.
func (w *LatestWriter) end() error {
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

// Add adds the row of a point.
func (w *LatestWriter) Add(id uint32, r *Row) error {
	n, kind := w.n, r.Value.Kind()
	w.id[n], w.time[n], w.kind[n], w.quality[n] = id, r.Time, kind, r.Quality
	switch kind {
	case point.Text:
		w.appender.Text(4, n, r.Value.Text())
		w.isText[n>>6] |= 1 << (n & 63)
	case point.Float, point.Int, point.Bool:
		w.setNumber(n, kind, r.Value.Bits())
	case point.None:
	}
	w.n = n + 1
	if w.n == engine.ChunkRows {
		return w.end()
	}
	return nil
}

func (w *LatestWriter) setNumber(n int, kind point.Kind, bits uint64) {
	value, exact := stored(kind, bits)
	w.value[n] = value
	w.isNumber[n>>6] |= 1 << (n & 63)
	if !exact.isExact() {
		return
	}
	if kind == point.Int {
		w.exact[n] = int64(bits)
	} else {
		w.exact[n] = 0
	}
	w.isExact[n>>6] |= 1 << (n & 63)
}

// Flush writes the rest.
func (w *LatestWriter) Flush() error {
	if w.n > 0 {
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.appender.Flush()
}

// Close ends the writing; unflushed rows are lost.
func (w *LatestWriter) Close() { w.appender.Close() }
