// Package arrowstream writes samples as an Arrow IPC stream, which pandas, polars and DuckDB read
// without parsing.
package arrowstream

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"voltbus/point"
)

// Media is the media type of a stream.
const Media = "application/vnd.apache.arrow.stream"

// batch is how many samples are sent together.
const batch = 64 << 10

// Writer writes one stream with the columns point, time, value, exact, text, kind and quality, which
// are those of the store's Parquet files: numbers and booleans stand in value, integers beyond 2^53
// also in exact, texts in text. It holds one batch in memory. It is not safe for concurrent use.
type Writer struct {
	out  *ipc.Writer
	rows *array.RecordBuilder
	n    int
}

// New returns a Writer. Close must follow.
func New(w io.Writer) *Writer {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "point", Type: arrow.BinaryTypes.String},
		{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "exact", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "kind", Type: arrow.BinaryTypes.String},
		{Name: "quality", Type: arrow.PrimitiveTypes.Uint8},
	}, nil)
	return &Writer{
		out:  ipc.NewWriter(w, ipc.WithSchema(schema)),
		rows: array.NewRecordBuilder(memory.DefaultAllocator, schema),
	}
}

// Write adds samples.
func (w *Writer) Write(samples []point.Sample) error {
	for i := range samples {
		w.add(&samples[i])
		if w.n++; w.n == batch {
			if err := w.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// exactBelow is the bound up to which a double keeps integers without loss.
const exactBelow = 1 << 53

func (w *Writer) add(s *point.Sample) {
	w.rows.Field(0).(*array.StringBuilder).Append(string(s.Point))
	w.rows.Field(1).(*array.TimestampBuilder).Append(arrow.Timestamp(s.Time.UnixMicro()))
	value, exact, text := w.rows.Field(2).(*array.Float64Builder), w.rows.Field(3).(*array.Int64Builder), w.rows.Field(4).(*array.StringBuilder)
	if number, ok := s.Value.Number(); ok {
		value.Append(number)
	} else {
		value.AppendNull()
	}
	if n, ok := s.Value.Int(); ok && s.Value.Kind() == point.Int && (n > exactBelow || n < -exactBelow) {
		exact.Append(n)
	} else {
		exact.AppendNull()
	}
	if s.Value.Kind() == point.Text {
		text.Append(s.Value.Text())
	} else {
		text.AppendNull()
	}
	w.rows.Field(5).(*array.StringBuilder).Append(s.Value.Kind().String())
	w.rows.Field(6).(*array.Uint8Builder).Append(uint8(s.Quality))
}

func (w *Writer) flush() error {
	w.n = 0
	record := w.rows.NewRecordBatch()
	defer record.Release()
	if err := w.out.Write(record); err != nil {
		return fmt.Errorf("write a batch: %w", err)
	}
	return nil
}

// Close sends the rest and ends the stream, also one without samples.
func (w *Writer) Close() error {
	defer w.rows.Release()
	if err := w.flush(); err != nil {
		return err
	}
	return w.out.Close()
}

// Abandon gives the memory back without ending the stream: a reader sees that it is not complete.
func (w *Writer) Abandon() { w.rows.Release() }
