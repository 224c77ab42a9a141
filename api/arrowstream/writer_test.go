package arrowstream_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/google/go-cmp/cmp"

	"voltbus/api/arrowstream"
	"voltbus/point"
	"voltbus/testing/peers"
)

// begin is when the samples of a test begin: before 1970, and not on a second.
var begin = time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC)

// mixed is n samples of all kinds of values.
func mixed(n int) []point.Sample {
	values := []point.Value{
		point.FloatOf(21.5), point.FloatOf(math.Inf(-1)), point.IntOf(-7), point.IntOf(1<<60 + 1), point.IntOf(1 << 53),
		point.BoolOf(true), point.TextOf("naïve 🔥"), point.TextOf(""),
	}
	samples := make([]point.Sample, n)
	for i := range samples {
		samples[i] = point.Sample{
			Point: point.Path(fmt.Sprint("site/p", i%13)), Time: begin.Add(time.Duration(i) * time.Microsecond),
			Value: values[i%len(values)], Quality: point.Quality(i % 3),
		}
	}
	return samples
}

func streamOf(t *testing.T, samples []point.Sample) []byte {
	t.Helper()
	var out bytes.Buffer
	w := arrowstream.New(&out)
	for rest := samples; len(rest) > 0; { // in runs that do not end with a batch
		n := min(len(rest), 1000)
		if err := w.Write(rest[:n]); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// row is a sample as it stands in a stream; "-" for null. Doubles are told by their bits, which no program rounds.
func row(s *point.Sample) string {
	value, exact, text := "-", "-", "-"
	if f, ok := s.Value.Number(); ok {
		value = bits(f)
	}
	if n, ok := s.Value.Int(); ok && s.Value.Kind() == point.Int && (n > 1<<53 || n < -1<<53) {
		exact = fmt.Sprint(n)
	}
	if s.Value.Kind() == point.Text {
		text = s.Value.Text()
	}
	return strings.Join([]string{string(s.Point), fmt.Sprint(s.Time.UnixMicro()), value, exact, text, s.Value.Kind().String(), fmt.Sprint(uint8(s.Quality))}, "|")
}

func bits(f float64) string { return fmt.Sprint(int64(math.Float64bits(f))) }

// read reads a stream with the library of the Arrow project for Go.
func read(t *testing.T, stream []byte) (*arrow.Schema, []string) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var rows []string
	for r.Next() {
		b := r.RecordBatch()
		text := func(column, i int) string {
			switch c := b.Column(column).(type) {
			case *array.Timestamp:
				return fmt.Sprint(int64(c.Value(i)))
			case *array.Float64:
				if c.IsValid(i) {
					return bits(c.Value(i))
				}
				return "-"
			default:
				if c.IsNull(i) {
					return "-"
				}
				return c.ValueStr(i)
			}
		}
		for i := range int(b.NumRows()) {
			var fields []string
			for column := range int(b.NumCols()) {
				fields = append(fields, text(column, i))
			}
			rows = append(rows, strings.Join(fields, "|"))
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r.Schema(), rows
}

func TestEverySampleIsReadAsItWasWritten(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 64 << 10, 64<<10 + 1, 150_001} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			samples := mixed(n)
			schema, got := read(t, streamOf(t, samples))
			var want []string
			for i := range samples {
				want = append(want, row(&samples[i]))
			}
			if !slices.Equal(got, want) {
				t.Errorf("the rows differ:\n%.2000s", cmp.Diff(want, got))
			}
			fields := []arrow.Field{
				{Name: "point", Type: arrow.BinaryTypes.String},
				{Name: "time", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
				{Name: "value", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
				{Name: "exact", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
				{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
				{Name: "kind", Type: arrow.BinaryTypes.String},
				{Name: "quality", Type: arrow.PrimitiveTypes.Uint8},
			}
			if !schema.Equal(arrow.NewSchema(fields, nil)) {
				t.Errorf("the schema is %v", schema)
			}
		})
	}
}

func TestLongTextsEndABatchEarly(t *testing.T) {
	long := point.TextOf(strings.Repeat("x", 10<<20))
	samples := make([]point.Sample, 15)
	for i := range samples {
		samples[i] = point.Sample{Point: "site/log", Time: begin, Value: long}
	}
	r, err := ipc.NewReader(bytes.NewReader(streamOf(t, samples)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var sizes []int64
	for r.Next() {
		sizes = append(sizes, r.RecordBatch().NumRows())
	}
	if diff := cmp.Diff([]int64{7, 7, 1}, sizes); diff != "" || r.Err() != nil {
		t.Errorf("batches have %v rows, %v", sizes, r.Err())
	}
}

// full takes so many bytes and then fails.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("full")
	}
	return len(p), nil
}

func TestAnErrorOfTheReaderIsReported(t *testing.T) {
	whole := len(streamOf(t, mixed(100)))
	for room := range whole {
		w := arrowstream.New(&full{room: room})
		if err := errors.Join(w.Write(mixed(100)), w.Close()); err == nil {
			t.Fatalf("of %d bytes %d were taken, and nobody says so", whole, room)
		}
	}
}

// What pyarrow says of a stream: it checks the arrays fully, and prints the schema and each row.
const reader = `
import struct, sys, pyarrow as pa
table = pa.ipc.open_stream(sys.argv[1]).read_all()
table.validate(full=True)
print(", ".join(f"{f.name} {f.type}{'' if f.nullable else ' not null'}" for f in table.schema))
columns = [table.column(i) for i in range(table.num_columns)]
columns[1] = columns[1].cast(pa.int64())
columns = [c.to_pylist() for c in columns]
columns[2] = [v if v is None else struct.unpack("<q", struct.pack("<d", v))[0] for v in columns[2]]
for row in zip(*columns):
    print("|".join("-" if v is None else str(v) for v in row))
`

func TestPyarrowReadsEverySample(t *testing.T) {
	samples := mixed(70_000)
	file := filepath.Join(t.TempDir(), "stream.arrows")
	if err := os.WriteFile(file, streamOf(t, samples), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), peers.Python(t), "-c", reader, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	lines := strings.Split(strings.TrimSuffix(string(said), "\n"), "\n")
	want := "point string not null, time timestamp[us, tz=UTC] not null, value double, exact int64, text string, kind string not null, quality uint8 not null"
	if lines[0] != want {
		t.Errorf("the schema is %s", lines[0])
	}
	if len(lines) != len(samples)+1 {
		t.Fatalf("%d rows of %d samples", len(lines)-1, len(samples))
	}
	for i := range samples {
		if want := row(&samples[i]); lines[i+1] != want {
			t.Fatalf("row %d is %s, not %s", i, lines[i+1], want)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	samples := mixed(64 << 10)
	b.ReportAllocs()
	for b.Loop() {
		w := arrowstream.New(&full{room: math.MaxInt})
		if err := errors.Join(w.Write(samples), w.Close()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*len(samples))/b.Elapsed().Seconds(), "samples/s")
}
