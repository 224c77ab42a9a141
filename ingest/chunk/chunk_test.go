package chunk_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/ingest/chunk"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// parse lists the readings of a body and what is refused, each with its place, which line maps.
func parse(f ingest.Format, body []byte, line func(int) int) (list []string, err error) {
	report, err := ingest.NewParser().Parse(f, body, ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
		for i := range b.Samples {
			s := &b.Samples[i]
			list = append(list, fmt.Sprint(line(b.Lines[i]), " ", s.Point, " ", s.Time.UnixMicro(), " ", s.Value, " ", s.Quality))
		}
		return nil
	})
	for _, e := range report.Errors {
		list = append(list, fmt.Sprint(line(e.Line), " ", e.Point, " ", e.Detail))
	}
	return list, err
}

// cut lists the same of a file that is cut into chunks of a size.
func cut(f ingest.Format, file io.Reader, size int) (list []string, chunks int, err error) {
	s, err := chunk.New(file, f, size)
	if err != nil {
		return nil, 0, err
	}
	for {
		p, err := s.Next()
		if errors.Is(err, io.EOF) {
			return list, chunks, nil
		}
		if err != nil {
			return list, chunks, err
		}
		chunks++
		part, err := parse(f, p.Body, p.Line)
		if err != nil {
			return list, chunks, err
		}
		list = append(list, part...)
	}
}

// files are those whose chunks together say what the whole says.
func files() map[string]struct {
	format ingest.Format
	text   string
} {
	type file = struct {
		format ingest.Format
		text   string
	}
	return map[string]file{
		"lines":                        {ingest.Line, "a v=1 1772366400000000000\nb,t=x v=\"two\nlines\" 1772366401000000000\n# note\n\nc v=3 1772366402000000000"},
		"lines with a text not closed": {ingest.Line, "a v=\"1\nb v=2 1772366401000000000\nc v=3 1772366402000000000\n"},
		"a table":                      {ingest.CSV, "\ufeff# note\npoint;time;value\na;1772366400000;1\nb;1772366401000;\"x;\n\"\"y\"\nc;1;2\n\nd;1772366402000;3"},
		"a wide table":                 {ingest.CSV, "time,a,b\r\n1772366400000,1,2\r\n1772366401000,,x\r\n1772366402000,3\r\n"},
		"an array":                     {ingest.JSON, " [ {\"point\":\"a\",\"value\":1},\n {\"point\":\"b}]\\\"\",\"value\":\"[{\"} , 5,{\"point\":\"c\",\"value\":null}, {\"point\":\"d\",\"value\":[1,{}]}]\n"},
		"an empty array":               {ingest.JSON, "[]"},
		"an object":                    {ingest.JSON, `{"x":{"samples":[1]},"samples":[{"point":"a","value":1},{"point":"b","value":2}],"y":1,"samples":[{"point":"c","value":2}]}`},
		"series":                       {ingest.JSON, `{"series":[{"point":"a","samples":[[1772366400000,1],[1,2]]},7,{"point":"b"},{"point":"c","samples":[[1772366400000,1],[1772366401000,"x]","bad"]]}],"completeness":{"a":[1]}}`},
		"SenML":                        {ingest.SenML, `[{"bn":"a/","bt":1772366400,"bu":"Cel","n":"x","v":1},{"n":"y","t":1,"v":2},{"bn":"b/","bv":5,"n":"z","v":1},{"n":"z","t":9,"v":2},{"v":true,"n":"?"},{"bt":"no","n":"x","v":1},{"n":"s","bs":3,"s":1},{"n":"s","t":2,"s":2}]`},
		"SenML as CBOR":                {ingest.SenMLCBOR, "\x82\xa2\x00\x65a/b/v\x02\xf9\x3e\x00\xa2\x00\x65a/b/w\x02\xf9\x3e\x00"},
		"nothing":                      {ingest.Line, ""},
	}
}

func TestTheChunksSayWhatTheWholeSays(t *testing.T) {
	for name, file := range files() {
		t.Run(name, func(t *testing.T) {
			whole, err := parse(file.format, []byte(file.text), func(n int) int { return n })
			if err != nil {
				t.Fatal(err)
			}
			most := 0
			for size := 1; size <= len(file.text)+1; size++ {
				got, chunks, err := cut(file.format, iotest.OneByteReader(strings.NewReader(file.text)), size)
				if err != nil {
					t.Fatalf("chunks of %d: %v", size, err)
				}
				// A body lists its errors behind its readings.
				if d := cmp.Diff(sorted(whole), sorted(got)); d != "" {
					t.Fatalf("chunks of %d: %s", size, d)
				}
				most = max(most, chunks)
			}
			if file.format != ingest.SenMLCBOR && len(whole) > 1 && most < 2 {
				t.Errorf("it was cut into %d chunks", most)
			}
		})
	}
}

func sorted(list []string) map[string]int {
	m := map[string]int{}
	for _, l := range list {
		m[l]++
	}
	return m
}

func TestWhatCannotBeCutIsSaid(t *testing.T) {
	tests := []struct {
		name   string
		format ingest.Format
		text   string
		want   string
	}{
		{"JSON that ends early", ingest.JSON, `[{"point":"a","value":1},{"point":`, "ends too early"},
		{"JSON that is not closed", ingest.JSON, `[{"point":"a","value":1}`, "ends too early"},
		{"JSON without a comma", ingest.JSON, `[{"point":"a","value":1}{"point":"a","value":1}]`, "no comma"},
		{"JSON with a comma too many", ingest.JSON, `[{"point":"a","value":1},]`, "where a value belongs"},
		{"JSON that is a number", ingest.JSON, `5`, "must be a JSON array"},
		{"JSON with something behind", ingest.JSON, `[] 5`, "behind"},
		{"an object that is not closed", ingest.JSON, `{"samples":[]`, "ends too early"},
		{"an object without names", ingest.JSON, `{5}`, "must be a JSON array"},
		{"SenML that is an object", ingest.SenML, `{}`, "must be a JSON array"},
		{"a value without an end", ingest.JSON, `["` + strings.Repeat("x", 31<<20), "30 MiB"},
		{"CBOR that is too large", ingest.SenMLCBOR, strings.Repeat("x", 31<<20), "30 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := cut(tt.format, strings.NewReader(tt.text), 0)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want …%s…", err, tt.want)
			}
		})
	}
}

func TestAFileThatCannotBeReadIsNotTakenForItsBeginning(t *testing.T) {
	gone := errors.New("the disk is gone")
	for _, f := range []ingest.Format{ingest.Line, ingest.CSV, ingest.JSON, ingest.SenML, ingest.SenMLCBOR} {
		broken := io.MultiReader(strings.NewReader("[{}"), iotest.ErrReader(gone))
		if _, chunks, err := cut(f, broken, 0); !errors.Is(err, gone) || chunks > 0 {
			t.Errorf("format %d gives %d chunks, %v", f, chunks, err)
		}
	}
}

// Texts are cut at the same places however the file is read, and lose no byte.
func TestALongTextIsCutAtTheSamePlacesEachTime(t *testing.T) {
	var text []byte
	for i := range 200_000 {
		text = fmt.Appendf(text, "m,w=w%d v=%d,t=\"a\nb\" %d000000000\n", i%7, i, 1_772_366_400+i)
	}
	collect := func(r io.Reader) (bodies [][]byte) {
		s, err := chunk.New(r, ingest.Line, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for {
			p, err := s.Next()
			if errors.Is(err, io.EOF) {
				return bodies
			}
			if err != nil {
				t.Fatal(err)
			}
			bodies = append(bodies, bytes.Clone(p.Body))
		}
	}
	whole, halves := collect(bytes.NewReader(text)), collect(iotest.HalfReader(bytes.NewReader(text)))
	if !bytes.Equal(bytes.Join(whole, nil), text) {
		t.Error("the chunks are not the file")
	}
	if d := cmp.Diff(lengths(halves), lengths(whole)); d != "" || len(whole) < 5 {
		t.Errorf("%d chunks: %s", len(whole), d)
	}
}

func lengths(bodies [][]byte) (list []int) {
	for _, b := range bodies {
		list = append(list, len(b))
	}
	return list
}

func TestAnyBytesAreCutWithoutAnEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("[]{},:\"\\ \nasb1pointvalue=#;"))).Draw(t, "text")
		format := rapid.SampledFrom([]ingest.Format{ingest.Line, ingest.CSV, ingest.JSON, ingest.SenML}).Draw(t, "format")
		size := rapid.IntRange(1, 20).Draw(t, "size")
		s, err := chunk.New(strings.NewReader(text), format, size)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; ; n++ {
			p, err := s.Next()
			if err != nil {
				return
			}
			if n > len(text) || len(p.Body) == 0 {
				t.Fatalf("chunk %d is %q", n, p.Body)
			}
		}
	})
}
