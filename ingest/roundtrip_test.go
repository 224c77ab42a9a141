package ingest_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/ingest"
	"voltbus/point"
)

// drawn is a sample that every format can carry.
func drawn(r *rapid.T) point.Sample {
	at := rapid.Int64Range(315_532_800_000_000, 7_258_118_399_999_999).Draw(r, "time")
	s := point.Sample{
		Point: point.Path(rapid.StringMatching(`[a-z][a-z0-9_/.:-]{0,30}`).Filter(func(s string) bool { return point.Path(s).Validate() == nil }).Draw(r, "point")),
		Time:  time.UnixMicro(at).UTC(),
	}
	switch rapid.IntRange(0, 2).Draw(r, "kind") {
	case 0:
		f := rapid.Float64().Filter(func(f float64) bool { return !math.IsInf(f, 0) && !math.IsNaN(f) && math.Abs(f) < 1<<53 }).Draw(r, "float")
		s.Value = point.FloatOf(f)
	case 1:
		s.Value = point.BoolOf(rapid.Bool().Draw(r, "bool"))
	case 2:
		s.Value = point.TextOf("x" + rapid.String().Filter(func(s string) bool { return utf8.ValidString(s) && !strings.Contains(s, "\x00") }).Draw(r, "text"))
	}
	return s
}

// write is how a sample is written in each format, after a head and with something between.
type write struct {
	head, between, tail string
	sample              func(*point.Sample) string
}

func writers() map[ingest.Format]write {
	rfc := func(s *point.Sample) string { return s.Time.Format(time.RFC3339Nano) }
	quoted := func(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
	return map[ingest.Format]write{
		ingest.JSON: {"[", ",", "]", func(s *point.Sample) string {
			return fmt.Sprintf(`{"point":%s,"time":%q,"value":%s}`, point.AppendQuoted(nil, s.Point), rfc(s), s.Value.AppendJSON(nil))
		}},
		ingest.CSV: {"point,time,value\n", "\n", "", func(s *point.Sample) string {
			if s.Value.Kind() == point.Text {
				return fmt.Sprintf("%s,%s,%s", s.Point, rfc(s), quoted(s.Value.Text()))
			}
			return fmt.Sprintf("%s,%s,%s", s.Point, rfc(s), s.Value)
		}},
		ingest.Line: {"", "\n", "", func(s *point.Sample) string {
			v := s.Value.String()
			if s.Value.Kind() == point.Text {
				v = `"` + strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(v) + `"`
			}
			return fmt.Sprintf("%s v=%s %d", strings.ReplaceAll(string(s.Point), "/", "|"), v, s.Time.UnixNano())
		}},
		ingest.SenMLCBOR: {"\x9f", "", "\xff", cborRecord},
	}
}

func cborRecord(s *point.Sample) string {
	b := appendText(append(appendHead(nil, 5, 3), 0), string(s.Point))
	micros := s.Time.UnixMicro()
	b = appendDouble(append(b, 6), float64(micros)/1e6)
	switch s.Value.Kind() {
	case point.Text:
		b = appendText(append(b, 3), s.Value.Text())
	case point.Bool:
		b = append(b, 4, 0xf4+byte(s.Value.Bits()))
	default:
		f, _ := s.Value.Number()
		b = appendDouble(append(b, 2), f)
	}
	return string(b)
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	for f, w := range writers() {
		t.Run(strconv.Itoa(int(f)), func(t *testing.T) {
			parser := ingest.NewParser()
			rapid.Check(t, func(r *rapid.T) {
				samples := rapid.SliceOfN(rapid.Custom(drawn), 1, 20).Draw(r, "samples")
				var parts []string
				for i := range samples {
					if f == ingest.SenMLCBOR { // seconds in a float64 hold microseconds until 2112, and sums are rounded
						samples[i].Time = samples[i].Time.Truncate(time.Second)
					}
					parts = append(parts, w.sample(&samples[i]))
				}
				got := parseWith(parser, f, w.head+strings.Join(parts, w.between)+w.tail)
				if got.err != nil || got.report.Refused > 0 {
					r.Fatal(got.lines())
				}
				if f == ingest.Line {
					for i := range got.samples {
						p := strings.TrimSuffix(string(got.samples[i].Point), "/v")
						got.samples[i].Point = point.Path(strings.ReplaceAll(p, "|", "/"))
					}
				}
				if diff := cmp.Diff(samples, got.samples, cmp.Comparer(func(a, b point.Value) bool { return a == b })); diff != "" {
					r.Fatal(diff)
				}
			})
		})
	}
}

func TestNumbersAreReadAsTheLanguageDoes(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringMatching(`-?(0|[1-9][0-9]{0,20})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?`).Draw(r, "number")
		want, err := strconv.ParseFloat(text, 64)
		got := parse(ingest.Line, "m v="+text)
		if err != nil {
			if len(got.samples) > 0 {
				r.Fatalf("%s is read as %v", text, got.samples[0].Value)
			}
			return
		}
		if len(got.samples) != 1 || got.samples[0].Value != point.FloatOf(want) {
			r.Fatalf("%s is read as %v, want %v", text, got.lines(), want)
		}
	})
}

func TestSegmentsStayApart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		tag := func(name string) string { return rapid.StringN(1, 10, 40).Draw(r, name) }
		escape := strings.NewReplacer(`\`, `\\`, ",", `\,`, "=", `\=`, " ", `\ `, "\n", "", "\r", "")
		a, b := escape.Replace(tag("a"))+"x", escape.Replace(tag("b"))+"x"
		got := parse(ingest.Line, "m,a="+a+",b="+b+" v=1")
		if len(got.samples) != 1 || got.samples[0].Point.Validate() != nil {
			r.Fatal(got.lines())
		}
		if n := strings.Count(string(got.samples[0].Point), "/"); n != 3 {
			r.Fatalf("%q has %d slashes", got.samples[0].Point, n)
		}
	})
}
