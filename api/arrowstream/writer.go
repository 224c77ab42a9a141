// Package arrowstream writes samples as an Arrow IPC stream, which pandas, polars and DuckDB read
// without parsing. It implements only the few types that samples need: a complete Arrow library
// would add 3 % to the program's size.
package arrowstream

import (
	"fmt"
	"io"

	"voltbus/point"
)

// Media is the media type of a stream.
const Media = "application/vnd.apache.arrow.stream"

// A batch ends at this number of samples, or of bytes of text. Offsets into text are 32 bits wide.
const (
	maxRows = 64 << 10
	maxText = 64 << 20
)

// Writer writes one stream with the columns point, time, value, exact, text, kind and quality, which
// are those of the store's Parquet files: numbers and booleans stand in value, integers beyond 2^53
// also in exact, strings in text. It holds one batch in memory. It is not safe for concurrent use.
type Writer struct {
	out     io.Writer
	started bool
	rows    int

	point, time, value, exact, text, kind, quality *column
}

// New returns a Writer. Close must follow for the stream to be whole.
func New(w io.Writer) *Writer {
	return &Writer{
		out:     w,
		point:   &column{name: "point", kind: utf8},
		time:    &column{name: "time", kind: timestamp},
		value:   &column{name: "value", kind: float64s, nullable: true},
		exact:   &column{name: "exact", kind: int64s, nullable: true},
		text:    &column{name: "text", kind: utf8, nullable: true},
		kind:    &column{name: "kind", kind: utf8},
		quality: &column{name: "quality", kind: uint8s},
	}
}

func (w *Writer) columns() []*column {
	return []*column{w.point, w.time, w.value, w.exact, w.text, w.kind, w.quality}
}

// Write appends samples.
func (w *Writer) Write(samples []point.Sample) error {
	for i := range samples {
		w.add(&samples[i])
		if w.rows++; w.rows == maxRows || len(w.text.data)+len(w.point.data) >= maxText {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// exactBelow is the bound up to which a double represents integers exactly.
const exactBelow = 1 << 53

func (w *Writer) add(s *point.Sample) {
	w.point.appendText(string(s.Point))
	w.time.appendInt(s.Time.UnixMicro())
	if number, ok := s.Value.Number(); ok {
		w.value.appendFloat(number)
	} else {
		w.value.appendNull()
	}
	if n, ok := s.Value.Int(); ok && s.Value.Kind() == point.Int && (n > exactBelow || n < -exactBelow) {
		w.exact.appendInt(n)
	} else {
		w.exact.appendNull()
	}
	if s.Value.Kind() == point.Text {
		w.text.appendText(s.Value.Text())
	} else {
		w.text.appendNull()
	}
	w.kind.appendText(s.Value.Kind().String())
	w.quality.appendByte(uint8(s.Quality))
}

// start sends the schema, which is the first message of a stream.
func (w *Writer) start() error {
	if w.started {
		return nil
	}
	w.started = true
	return w.message(schemaMessage(w.columns()), nil)
}

func (w *Writer) flush() error {
	if err := w.start(); err != nil {
		return err
	}
	if w.rows == 0 {
		return nil
	}
	var buffers [][]byte
	for _, c := range w.columns() {
		buffers = append(buffers, c.buffers()...)
	}
	if err := w.message(batchMessage(w.rows, w.columns(), buffers), buffers); err != nil {
		return err
	}
	for _, c := range w.columns() {
		c.reset()
	}
	w.rows = 0
	return nil
}

// message sends metadata and the buffers that it describes.
func (w *Writer) message(metadata []byte, body [][]byte) error {
	if _, err := w.out.Write(framed(metadata)); err != nil {
		return fmt.Errorf("write the description of a batch: %w", err)
	}
	for _, b := range body {
		if _, err := w.out.Write(b); err != nil {
			return fmt.Errorf("write a batch: %w", err)
		}
		if _, err := w.out.Write(padding(len(b))); err != nil {
			return fmt.Errorf("write a batch: %w", err)
		}
	}
	return nil
}

// Close sends the rest and ends the stream, even one without samples. Readers recognise a stream that was not closed as incomplete.
func (w *Writer) Close() error {
	if err := w.flush(); err != nil {
		return err
	}
	if _, err := w.out.Write(framed(nil)); err != nil {
		return fmt.Errorf("end the stream: %w", err)
	}
	return nil
}
