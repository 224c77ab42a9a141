package ingest_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/ingest"
	"voltbus/point"
)

func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

// parsed is what a body says, as lines of text: one for each sample, and one for each error.
type parsed struct {
	samples []point.Sample
	units   map[point.Path]string
	report  *ingest.Report
	err     error
}

func parse(f ingest.Format, body string, change ...func(*ingest.Options)) parsed {
	return parseWith(ingest.NewParser(), f, body, change...)
}

func parseWith(p *ingest.Parser, f ingest.Format, body string, change ...func(*ingest.Options)) parsed {
	o := ingest.Options{Now: noon()}
	for _, c := range change {
		c(&o)
	}
	out := parsed{units: map[point.Path]string{}}
	out.report, out.err = p.Parse(f, []byte(body), o, func(b *ingest.Batch) error {
		out.samples = append(out.samples, b.Samples...)
		maps.Copy(out.units, b.Units)
		return nil
	})
	return out
}

// show writes a sample as "path kind value @ seconds after noon [quality]", to 10 µs: readings without a time
// follow each other 1 µs apart.
func show(s *point.Sample) string {
	text := fmt.Sprintf("%s %v %v @%v", s.Point, s.Value.Kind(), s.Value, s.Time.Sub(noon()).Truncate(10*time.Microsecond).Seconds())
	if s.Quality != point.Good {
		text += " " + s.Quality.String()
	}
	return text
}

func (p parsed) lines() []string {
	var lines []string
	for i := range p.samples {
		lines = append(lines, show(&p.samples[i]))
	}
	for _, e := range p.report.Errors {
		lines = append(lines, fmt.Sprintf("! %d %s: %s", e.Line, e.Point, e.Detail))
	}
	if p.err != nil {
		lines = append(lines, "!! "+p.err.Error())
	}
	return lines
}

// body is a case of a table test.
type body struct {
	name string
	body string
	want []string // see parsed.lines; an error may end in "…", which stands for anything
	opts func(*ingest.Options)
}

func check(t *testing.T, f ingest.Format, cases []body) {
	t.Helper()
	shared := ingest.NewParser() // what one body leaves behind must not change the next
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			var change []func(*ingest.Options)
			if tt.opts != nil {
				change = append(change, tt.opts)
			}
			for range 2 {
				got := parseWith(shared, f, tt.body, change...).lines()
				for i := range min(len(got), len(tt.want)) {
					if head, ok := strings.CutSuffix(tt.want[i], "…"); ok && strings.HasPrefix(got[i], head) {
						got[i] = tt.want[i]
					}
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Fatal(diff)
				}
			}
		})
	}
}

func precision(unit time.Duration) func(*ingest.Options) {
	return func(o *ingest.Options) { o.Precision = unit }
}

func TestTheErrorsListedAreBounded(t *testing.T) {
	got := parse(ingest.Line, strings.Repeat("wrong\n", 10*ingest.MaxErrors)+"a b=1")
	if len(got.report.Errors) != ingest.MaxErrors || got.report.Refused != 10*ingest.MaxErrors || len(got.samples) != 1 {
		t.Errorf("%d errors listed of %d, %d samples", len(got.report.Errors), got.report.Refused, len(got.samples))
	}
}

func TestALargeBodyComesInParts(t *testing.T) {
	var b strings.Builder
	const n = 100_000
	for i := range n {
		fmt.Fprintf(&b, "m,t=%d v=%d\n", i%100, i)
	}
	parts, next := 0, 0
	_, err := ingest.NewParser().Parse(ingest.Line, []byte(b.String()), ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
		parts++
		for i := range b.Samples {
			if v, _ := b.Samples[i].Value.Int(); int(v) != next || b.Lines[i] != next+1 {
				t.Fatalf("sample %d has the value %d and the line %d", next, v, b.Lines[i])
			}
			next++
		}
		return nil
	})
	if err != nil || next != n || parts < 3 {
		t.Errorf("%d samples in %d parts, %v", next, parts, err)
	}
}

func TestTheTakerEndsTheReading(t *testing.T) {
	stop := errors.New("stop")
	_, err := ingest.NewParser().Parse(ingest.Line, []byte("a b=1"), ingest.Options{Now: noon()}, func(*ingest.Batch) error { return stop })
	if !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestTheTakerMayRefuseSamples(t *testing.T) {
	var kept []string
	report, err := ingest.NewParser().Parse(ingest.Line, []byte("a x=1,y=2\na x=3\na y=4"), ingest.Options{Now: noon()}, func(b *ingest.Batch) error {
		b.Drop(func(s *point.Sample) error {
			if s.Point == "a/y" {
				return fault.E("test", fault.Refused, "a/y", errors.New("not yours"))
			}
			return nil
		})
		for i := range b.Samples {
			kept = append(kept, fmt.Sprint(b.Lines[i], " ", show(&b.Samples[i])))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 a/x float 1 @0", "2 a/x float 3 @0"}, kept); diff != "" {
		t.Error(diff)
	}
	want := &ingest.Report{Refused: 2, Errors: []ingest.Error{
		{Line: 1, Point: "a/y", Kind: fault.Refused, Detail: "not yours"},
		{Line: 3, Point: "a/y", Kind: fault.Refused, Detail: "not yours"},
	}}
	if diff := cmp.Diff(want, report); diff != "" {
		t.Error(diff)
	}
}

func TestPathsStandBelowTheFolder(t *testing.T) {
	under := func(o *ingest.Options) { o.Under = "site/a" }
	bodies := map[ingest.Format]string{
		ingest.Line: "m v=1", ingest.JSON: `[{"point":"m/v","value":1}]`, ingest.SenML: `[{"n":"m/v","v":1}]`,
		ingest.CSV: "point,time,value\nm/v,2026-03-01T12:00:00Z,1",
	}
	for f, b := range bodies {
		if diff := cmp.Diff([]string{"site/a/m/v float 1 @0"}, parse(f, b, under).lines()); diff != "" {
			t.Error(f, diff)
		}
	}
	p := ingest.NewParser() // one parser serves many folders
	for i := range 30 {
		folder := fmt.Sprintf("f%d", i%12)
		got := parseWith(p, ingest.JSON, bodies[ingest.JSON], func(o *ingest.Options) { o.Under = point.Path(folder) })
		if diff := cmp.Diff([]string{folder + "/m/v float 1 @0"}, got.lines()); diff != "" {
			t.Error(diff)
		}
	}
	if got := parse(ingest.Line, "m v=1", func(o *ingest.Options) { o.Under = "a\x00" }); !fault.Is(got.err, fault.Invalid) {
		t.Errorf("a folder with a control character gives %v", got.err)
	}
}

// Two readings with one time would be one in the history.
func TestReadingsOfAPointWithoutTimesKeepTheirOrderAndEachItsTime(t *testing.T) {
	for name, c := range map[string]struct {
		format ingest.Format
		body   string
	}{
		"own JSON": {ingest.JSON, `[{"point":"a","value":1},{"point":"b","value":9},{"point":"a","value":2},{"point":"a","value":1}]`},
		"SenML":    {ingest.SenML, `[{"n":"a","v":1},{"n":"b","v":9},{"n":"a","v":2},{"n":"a","v":1}]`},
		"lines":    {ingest.Line, "a value=1\nb value=9\na value=2\na value=1"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []time.Duration
			for _, s := range parse(c.format, c.body).samples {
				got = append(got, s.Time.Sub(noon()))
			}
			if want := []time.Duration{0, 0, time.Microsecond, 2 * time.Microsecond}; !slices.Equal(got, want) {
				t.Errorf("the readings are at %v; want %v", got, want)
			}
		})
	}
}

func TestATimeThatIsNotBelievedIsCountedAndGivesWayToTheArrival(t *testing.T) {
	p := parse(ingest.JSON, `[{"point":"a","time":"2009-01-01T00:00:00Z","value":1},{"point":"a","time":"2026-03-02T12:00:00Z","value":2},
		{"point":"a","time":"2026-03-01T11:00:00Z","value":3}]`, func(o *ingest.Options) {
		o.Bounds = point.Bounds{Past: 24 * time.Hour, Ahead: time.Hour}
	})
	want := []string{"a float 1 @0 uncertain(clock)", "a float 2 @0 uncertain(clock)", "a float 3 @-3600"}
	if diff := cmp.Diff(want, p.lines()); diff != "" {
		t.Error(diff)
	}
	if p.report.Misdated != 2 {
		t.Errorf("%d times were counted, want 2", p.report.Misdated)
	}
}
