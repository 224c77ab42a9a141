package sample

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// TableWriter fills the table of a day, chunk by chunk, within the connection's transaction.
type TableWriter struct {
	appender *engine.Appender
	words    *wordWriter
	n        int // rows in the chunk

	id    []uint32
	time  []int64
	value []float64
	tag   []tag
}

// OpenTable opens the table; its texts are numbered from the first free number.
func OpenTable(c *engine.Conn, table string, known Words, first uint64) (*TableWriter, error) {
	a, err := c.Appender(table, duck.TypeUInteger, duck.TypeTimestamp, duck.TypeDouble, duck.TypeUInteger)
	if err != nil {
		return nil, err
	}
	w := &TableWriter{appender: a, words: &wordWriter{conn: c, table: WordTable(table), known: known, next: first}}
	w.begin()
	return w, nil
}

// begin starts a chunk.
func (w *TableWriter) begin() {
	w.n = 0
	w.id, w.time = engine.Column[uint32](w.appender, 0), engine.Column[int64](w.appender, 1)
	w.value, w.tag = engine.Column[float64](w.appender, 2), engine.Column[tag](w.appender, 3)
}

// end appends the chunk to the table and starts another.
func (w *TableWriter) end() error {
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

// Room is how many more rows fit into the chunk.
func (w *TableWriter) Room() int { return engine.ChunkRows - w.n }

// Put adds the samples i to j−1 of the block, at most as many as fit. The ids are those of the block's
// points.
func (w *TableWriter) Put(ids []uint32, b *point.Block, i, j int) error {
	n := w.n
	id := w.id[n : n+j-i]
	for k, p := range b.Point[i:j] {
		id[k] = ids[p]
	}
	copy(w.time[n:], b.Time[i:j])
	values, tags := w.value[n:n+j-i], w.tag[n:n+j-i]
	kinds, qualities, bits := b.Kind[i:j], b.Quality[i:j], b.Bits[i:j]
	for k, kind := range kinds {
		if kind == point.Text {
			number, err := w.words.number(b.Texts[bits[k]])
			if err != nil {
				return err
			}
			values[k], tags[k] = number, plainTag(kind, qualities[k])
			continue
		}
		value, exact := stored(kind, bits[k])
		values[k], tags[k] = value, exact|plainTag(kind, qualities[k])
	}
	w.n += j - i
	if w.n == engine.ChunkRows {
		return w.end()
	}
	return nil
}

// Flush writes the rest.
func (w *TableWriter) Flush() error {
	if w.n > 0 {
		if err := w.end(); err != nil {
			return err
		}
	}
	if err := w.words.flush(); err != nil {
		return err
	}
	return w.appender.Flush()
}

// Texts returns how many texts the table of texts has.
func (w *TableWriter) Texts() uint64 { return w.words.next }

// Close ends the writing; unflushed rows are lost.
func (w *TableWriter) Close() {
	w.words.close()
	w.appender.Close()
}
