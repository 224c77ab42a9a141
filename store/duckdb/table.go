package duckdb

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/point"
	"voltbus/store/duckdb/engine"
)

// tableWriter fills the table of a day, chunk by chunk, within the connection's transaction.
type tableWriter struct {
	appender *engine.Appender
	words    *wordWriter
	n        int // rows in the chunk

	id    []uint32
	time  []int64
	value []float64
	tag   []tag
}

// openTable opens the table; its texts are numbered from the first that is free.
func openTable(c *engine.Conn, table string, known words, first uint64) (*tableWriter, error) {
	a, err := c.Appender(table, duck.TypeUInteger, duck.TypeTimestamp, duck.TypeDouble, duck.TypeUInteger)
	if err != nil {
		return nil, err
	}
	w := &tableWriter{appender: a, words: &wordWriter{conn: c, table: wordTable(table), known: known, next: first}}
	w.begin()
	return w, nil
}

// begin starts a chunk.
func (w *tableWriter) begin() {
	w.n = 0
	w.id, w.time = engine.Column[uint32](w.appender, 0), engine.Column[int64](w.appender, 1)
	w.value, w.tag = engine.Column[float64](w.appender, 2), engine.Column[tag](w.appender, 3)
}

// end hands the chunk to the table and starts another.
func (w *tableWriter) end() error {
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

// room is how many rows the chunk still takes.
func (w *tableWriter) room() int { return engine.ChunkRows - w.n }

// put adds the samples i to j−1 of the block, at most as many as there is room for. The ids are
// those of the block's points.
func (w *tableWriter) put(ids []uint32, b *point.Block, i, j int) error {
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

// flush hands over what is left.
func (w *tableWriter) flush() error {
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

func (w *tableWriter) close() {
	w.words.close()
	w.appender.Close()
}
