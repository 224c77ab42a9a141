package query_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

// asks are the ways to ask for a selection between noon and an hour later.
func asks(t *testing.T, p *plant) map[string]func(query.Selection) error {
	span := func(s query.Selection) query.Request {
		return query.Request{Selection: s, From: noon(), To: at(time.Hour)}
	}
	return map[string]func(query.Selection) error{
		"range": func(s query.Selection) error { _, err := p.Range(t.Context(), span(s)); return err },
		"plot":  func(s query.Selection) error { _, err := p.Plot(t.Context(), span(s), 100); return err },
		"aggregate": func(s query.Selection) error {
			_, err := p.Aggregate(t.Context(), span(s), query.Aggregation{Step: query.Step{Duration: time.Minute}})
			return err
		},
		"export": func(s query.Selection) error {
			return p.Export(t.Context(), span(s), func([]point.Sample) error { return nil })
		},
		"latest": func(s query.Selection) error { _, err := p.Latest(t.Context(), s); return err },
	}
}

func TestAPointThatDoesNotExistIsNotFound(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "b/ahu/temp"}, point.Info{Path: "b/ahu/fan"}, point.Info{Path: "b/vav/temp"}, point.Info{Path: "b/silent"}, point.Info{Path: "b/gone"})
	p.record(every("b/ahu/power", time.Minute, ramp(2)...)...)
	if err := p.catalog.Remove(t.Context(), []point.Path{"b/gone"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		points []point.Path
		want   string // "": they exist
	}{
		{"a point of a device without samples exists", []point.Path{"b/silent"}, ""},
		{"a point that only has samples exists", []point.Path{"b/ahu/power"}, ""},
		{"a point that was removed exists", []point.Path{"b/gone"}, ""},
		{"a misspelt name has a neighbour", []point.Path{"b/ahu/tmp"}, `b/ahu/tmp: there is no such point; did you mean "b/ahu/temp"?`},
		{"a misspelt name of what a program recorded", []point.Path{"b/ahu/POWR"}, `b/ahu/POWR: there is no such point; did you mean "b/ahu/power"?`},
		{"a misspelt device has the same point elsewhere", []point.Path{"b/ahv/temp"}, `b/ahv/temp: there is no such point; did you mean "b/ahu/temp" or "b/vav/temp"?`},
		{"nothing is like it", []point.Path{"x/zzzzzz"}, "x/zzzzzz: there is no such point"},
		{"one of several is missing", []point.Path{"b/silent", "b/ahu/power", "b/nothing"}, "b/nothing: there is no such point"},
	}
	for _, tt := range tests {
		for how, ask := range asks(t, p) {
			t.Run(tt.name+", asked by "+how, func(t *testing.T) {
				err := ask(query.Selection{Points: tt.points})
				if tt.want == "" && err != nil || tt.want != "" && (!fault.Is(err, fault.NotFound) || err.Error() != tt.want) {
					t.Errorf("got %v (%v)\nwant %v", err, fault.KindOf(err), tt.want)
				}
			})
		}
	}
}

func TestAPatternThatSelectsNothingIsNotFound(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "b/silent"})
	p.record(every("b/program", time.Minute, ramp(2)...)...)
	for how, ask := range asks(t, p) {
		for pattern, found := range map[point.Pattern]bool{"b": true, "**/silent": true, "b/prog*": true, "c": how == "latest", "*/x": how == "latest"} {
			err := ask(query.Selection{Pattern: pattern})
			if found != (err == nil) || !found && (!fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), fmt.Sprintf("no point matches %q", pattern))) {
				t.Errorf("%s of %q gives %v", how, pattern, err)
			}
		}
	}
	empty := newPlant(t, query.DefaultLimits())
	if err := asks(t, empty)["range"](query.Selection{Pattern: "**"}); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "no points yet") {
		t.Errorf("everything of nothing gives %v", err)
	}
}

func TestHintsAreFewAndTheNearestFirst(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	var infos []point.Info
	for i := range 2000 {
		infos = append(infos, point.Info{Path: point.Path(fmt.Sprintf("site/zone%04d/temp", i))})
	}
	p.know(append(infos, point.Info{Path: point.Path("site/" + strings.Repeat("x", 300) + "/temp")})...)
	for path, want := range map[point.Path]string{
		"site/zone12345/temp":                          `did you mean "site/zone1234/temp", "site/zone1235/temp" or "site/zone1245/temp"?`,
		"site/Zone0007/temp":                           `did you mean "site/zone0007/temp", "site/zone0000/temp" or "site/zone0001/temp"?`,
		point.Path(strings.Repeat("y", 400)) + "/temp": "there is no such point",
	} {
		_, err := p.Latest(t.Context(), query.Selection{Points: []point.Path{path}})
		if !fault.Is(err, fault.NotFound) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s gives %v\nwant …%s", path, err, want)
		}
	}
}

// reference is the recursive definition of the distance.
func reference(a, b string) int {
	switch {
	case a == "" || b == "":
		return len(a) + len(b)
	case a[0] == b[0]:
		return reference(a[1:], b[1:])
	}
	return 1 + min(reference(a[1:], b), reference(a, b[1:]), reference(a[1:], b[1:]))
}

func TestDistanceIsWhatItsDefinitionSays(t *testing.T) {
	word := rapid.StringOfN(rapid.SampledFrom([]rune("abc")), 0, 6, -1)
	rapid.Check(t, func(r *rapid.T) {
		a, b := word.Draw(r, "a"), word.Draw(r, "b")
		if got, want := query.Distance([]rune(a), []rune(b)), reference(a, b); got != want {
			r.Fatalf("%q to %q is %d, want %d", a, b, got, want)
		}
	})
}

func TestNothingIsExpectedBeforeTheIntervalWasSet(t *testing.T) {
	set := noon()
	c, err := catalog.Open(t.Context(), t.TempDir(), func() time.Time { return set })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	p := newPlant(t, query.DefaultLimits())
	p.catalog, p.Engine = c, query.New(p.store, c, query.DefaultLimits(), now)
	p.know(point.Info{Path: "m", Interval: time.Minute})
	set = at(30 * time.Minute)
	p.know(point.Info{Path: "m", Interval: 10 * time.Second})
	p.record(every("m", time.Minute, ramp(60)...)...) // after the change five of six are missing
	limited := hour("m")
	limited.Limit = 1
	want := query.Coverage{Known: true, Expected: 180, Present: 60, Extra: 30}
	for name, tt := range map[string]struct {
		req  query.Request
		want query.Coverage
	}{
		"all":                            {hour("m"), want},
		"limited, where buckets say all": {limited, want},
	} {
		a, err := p.Range(t.Context(), tt.req)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(tt.want, a.Series[0].Coverage); d != "" {
			t.Error(name, d)
		}
	}
	sums, err := p.Aggregate(t.Context(), hour("m"), query.Aggregation{Step: query.Step{Duration: 5 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	ratio, known := sums.Series[0].Coverage.Ratio()
	if d := cmp.Diff(want, sums.Series[0].Coverage); d != "" || !known || ratio != 30.0/180 {
		t.Error(d, ratio, known)
	}
	if d := cmp.Diff(query.Coverage{Known: true, Expected: 180, Present: 30}, sums.Total); d != "" {
		t.Error(d)
	}
}

func BenchmarkHintsAmong50000Points(b *testing.B) {
	p := newPlant(b, query.DefaultLimits())
	infos := make([]point.Info, 50_000)
	for i := range infos {
		infos[i].Path = point.Path(fmt.Sprintf("campus/building%d/ahu%d/zone%d/temp", i%40, i%500, i))
	}
	p.know(infos...)
	sel := query.Selection{Points: []point.Path{"campus/building7/ahu7/zone70000/temp"}}
	for b.Loop() {
		if _, err := p.Latest(b.Context(), sel); !fault.Is(err, fault.NotFound) {
			b.Fatal(err)
		}
	}
}
