package duckdb

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// tableWriter fills a table of samples, chunk by chunk, within the connection's transaction.
type tableWriter struct {
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

func openTable(c *engine.Conn, table string) (*tableWriter, error) {
	a, err := c.Appender(table, duck.TypeUInteger, duck.TypeTimestamp, duck.TypeDouble, duck.TypeBigInt,
		duck.TypeVarchar, duck.TypeUTinyInt, duck.TypeUTinyInt)
	if err != nil {
		return nil, err
	}
	w := &tableWriter{appender: a}
	w.begin()
	return w, nil
}

// begin starts a chunk.
func (w *tableWriter) begin() {
	a := w.appender
	w.n = 0
	w.id, w.time = engine.Column[uint32](a, 0), engine.Column[int64](a, 1)
	w.value, w.exact = engine.Column[float64](a, 2), engine.Column[int64](a, 3)
	w.kind, w.quality = engine.Column[point.Kind](a, 5), engine.Column[point.Quality](a, 6)
	w.isNumber, w.isExact, w.isText = a.Nulls(2), a.Nulls(3), a.Nulls(4)
}

// end hands the chunk to the table and starts another.
func (w *tableWriter) end() error {
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

// put adds sample i of the block.
func (w *tableWriter) put(id uint32, b *point.Block, i int) error {
	n := w.n
	w.id[n], w.time[n], w.kind[n], w.quality[n] = id, b.Time[i], b.Kind[i], b.Quality[i]
	if b.Kind[i] == point.Text {
		w.setText(n, b.Texts[b.Bits[i]])
	} else {
		w.setNumber(n, b.Kind[i], b.Bits[i])
	}
	w.n = n + 1
	if w.n == engine.ChunkRows {
		return w.end()
	}
	return nil
}

// add adds a row of the point.
func (w *tableWriter) add(id uint32, r *row) error {
	n := w.n
	w.id[n], w.time[n], w.kind[n], w.quality[n] = id, r.time, r.value.Kind(), r.quality
	if r.value.Kind() == point.Text {
		w.setText(n, r.value.Text())
	} else {
		w.setNumber(n, r.value.Kind(), r.value.Bits())
	}
	w.n = n + 1
	if w.n == engine.ChunkRows {
		return w.end()
	}
	return nil
}

func (w *tableWriter) setText(n int, text string) {
	w.appender.Text(4, n, text)
	w.isText[n>>6] |= 1 << (n & 63)
}

func (w *tableWriter) setNumber(n int, kind point.Kind, bits uint64) {
	if kind == point.None {
		return
	}
	value, exact, isExact := stored(kind, bits)
	w.value[n] = value
	w.isNumber[n>>6] |= 1 << (n & 63)
	if isExact {
		w.exact[n] = exact
		w.isExact[n>>6] |= 1 << (n & 63)
	}
}

// flush hands over what is left.
func (w *tableWriter) flush() error {
	if w.n > 0 {
		if err := w.end(); err != nil {
			return err
		}
	}
	return w.appender.Flush()
}

func (w *tableWriter) close() { w.appender.Close() }
