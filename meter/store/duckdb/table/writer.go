package table

import (
	duck "github.com/duckdb/duckdb-go-bindings"

	"voltbus/store/duckdb/engine"
)

// Row is one version of a reading as tables of versions have it.
type Row struct {
	Channel          uint32
	Place            int32
	Value            float64
	Recorded, Source uint32
}

// Writer fills a table of versions, chunk by chunk, within the open transaction. Close must be called.
type Writer struct {
	appender *engine.Appender
	n        int

	channel          []uint32
	place            []int32
	value            []float64
	recorded, source []uint32
}

// NewWriter returns one for a table.
func NewWriter(c *engine.Conn, name string) (*Writer, error) {
	a, err := c.Appender(name, duck.TypeUInteger, duck.TypeInteger, duck.TypeDouble, duck.TypeUInteger, duck.TypeUInteger)
	if err != nil {
		return nil, err
	}
	w := &Writer{appender: a}
	w.begin()
	return w, nil
}

func (w *Writer) begin() {
	a := w.appender
	w.n = 0
	w.channel, w.place, w.value = engine.Column[uint32](a, 0), engine.Column[int32](a, 1), engine.Column[float64](a, 2)
	w.recorded, w.source = engine.Column[uint32](a, 3), engine.Column[uint32](a, 4)
}

// Put adds a row.
func (w *Writer) Put(r Row) error {
	n := w.n
	w.channel[n], w.place[n], w.value[n], w.recorded[n], w.source[n] = r.Channel, r.Place, r.Value, r.Recorded, r.Source
	w.n++
	if w.n < engine.ChunkRows {
		return nil
	}
	if err := w.appender.Append(w.n); err != nil {
		return err
	}
	w.begin()
	return nil
}

// Flush hands all rows to the database.
func (w *Writer) Flush() error {
	if w.n > 0 {
		if err := w.appender.Append(w.n); err != nil {
			return err
		}
		w.begin()
	}
	return w.appender.Flush()
}

// Close gives back the memory of the writer.
func (w *Writer) Close() { w.appender.Close() }

// Sealed is rows of a sorted table, in columns.
type Sealed struct {
	Channel         []uint32
	Place           []int32
	Value           []float64
	Recorded        []int64
	Source, Verdict []uint32
}

// NewSealed returns one with room for n rows.
func NewSealed(n int) Sealed {
	return Sealed{
		Channel: make([]uint32, 0, n), Place: make([]int32, 0, n), Value: make([]float64, 0, n),
		Recorded: make([]int64, 0, n), Source: make([]uint32, 0, n), Verdict: make([]uint32, 0, n),
	}
}

// Write appends the rows to a table.
func (t *Sealed) Write(c *engine.Conn, name string) error {
	a, err := c.Appender(name, duck.TypeUInteger, duck.TypeInteger, duck.TypeDouble, duck.TypeBigInt, duck.TypeUInteger, duck.TypeUInteger)
	if err != nil {
		return err
	}
	defer a.Close()
	for n := 0; n < len(t.Channel); n += engine.ChunkRows {
		m := min(n+engine.ChunkRows, len(t.Channel))
		copy(engine.Column[uint32](a, 0), t.Channel[n:m])
		copy(engine.Column[int32](a, 1), t.Place[n:m])
		copy(engine.Column[float64](a, 2), t.Value[n:m])
		copy(engine.Column[int64](a, 3), t.Recorded[n:m])
		copy(engine.Column[uint32](a, 4), t.Source[n:m])
		copy(engine.Column[uint32](a, 5), t.Verdict[n:m])
		if err := a.Append(m - n); err != nil {
			return err
		}
	}
	return a.Flush()
}

// Total is what the intervals of a channel add up to, and the highest one; NaN if unknown.
type Total struct {
	Channel      uint32
	Sum, Highest float64
}

// WriteTotals appends rows to a table of sums.
func WriteTotals(c *engine.Conn, name string, list []Total) error {
	a, err := c.Appender(name, duck.TypeUInteger, duck.TypeDouble, duck.TypeDouble)
	if err != nil {
		return err
	}
	defer a.Close()
	for n := 0; n < len(list); n += engine.ChunkRows {
		part := list[n:min(n+engine.ChunkRows, len(list))]
		channels, totals, highs := engine.Column[uint32](a, 0), engine.Column[float64](a, 1), engine.Column[float64](a, 2)
		for i, t := range part {
			channels[i], totals[i], highs[i] = t.Channel, t.Sum, t.Highest
		}
		if err := a.Append(len(part)); err != nil {
			return err
		}
	}
	return a.Flush()
}
