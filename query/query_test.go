package query_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
	"voltbus/store/memory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when the tests begin to record; now is when they ask.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
func now() time.Time  { return noon().Add(24 * time.Hour) }

func at(d time.Duration) time.Time { return noon().Add(d) }

type plant struct {
	*query.Engine
	t        testing.TB
	store    *memory.Store
	catalog  *catalog.Catalog
	sequence uint64
}

func newPlant(t testing.TB, limits query.Limits) *plant {
	t.Helper()
	return newPlantWith(t, limits, now)
}

// newPlantAt is a plant whose clock shows another time.
func newPlantAt(t testing.TB, clock func() time.Time) *plant {
	t.Helper()
	return newPlantWith(t, query.DefaultLimits(), clock)
}

func newPlantWith(t testing.TB, limits query.Limits, now func() time.Time) *plant {
	t.Helper()
	c, err := catalog.Open(context.Background(), t.TempDir(), noon)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	s := memory.New(memory.Options{})
	return &plant{Engine: query.New(s, c, limits, now), t: t, store: s, catalog: c}
}

func (p *plant) know(infos ...point.Info) {
	p.t.Helper()
	if err := p.catalog.Upsert(context.Background(), infos); err != nil {
		p.t.Fatal(err)
	}
}

func (p *plant) record(samples ...point.Sample) {
	p.t.Helper()
	p.sequence++
	b := &point.Block{Origin: "test", Sequence: p.sequence, Created: noon()}
	index := map[point.Path]uint32{}
	for i := range samples {
		n, ok := index[samples[i].Point]
		if !ok {
			n = uint32(len(b.Points))
			index[samples[i].Point] = n
			b.Points = append(b.Points, samples[i].Point)
		}
		b.Append(n, &samples[i])
	}
	if _, err := p.store.Append(context.Background(), []*point.Block{b}); err != nil {
		p.t.Fatal(err)
	}
}

// every makes samples of a point, one each step from noon on.
func every(p point.Path, step time.Duration, values ...point.Value) []point.Sample {
	var list []point.Sample
	for i, v := range values {
		list = append(list, point.Sample{Point: p, Time: at(time.Duration(i) * step), Value: v})
	}
	return list
}

func ramp(n int) []point.Value {
	list := make([]point.Value, n)
	for i := range list {
		list[i] = point.FloatOf(float64(i))
	}
	return list
}

func times(n int, v point.Value) []point.Value {
	list := make([]point.Value, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func hour(points ...point.Path) query.Request {
	return query.Request{Selection: query.Selection{Points: points}, From: noon(), To: at(time.Hour)}
}

func lines(samples []point.Sample) []string {
	var list []string
	for _, s := range samples {
		list = append(list, fmt.Sprintf("%s %s %s %s", s.Point, s.Time.Sub(noon()), s.Value, s.Quality))
	}
	return list
}

func TestLatest(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "b/gone"}, point.Info{Path: "b/temp"}, point.Info{Path: "silent"})
	p.record(every("b/temp", time.Minute, ramp(3)...)...)
	p.record(every("b/gone", time.Minute, ramp(2)...)...)
	p.record(every("b/unlisted", time.Minute, point.TextOf("<b>"))...)
	p.record(every("c", time.Minute, point.BoolOf(true))...)
	if err := p.catalog.Remove(t.Context(), []point.Path{"b/gone"}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		sel  query.Selection
		want []string
	}{
		{
			"of a pattern comes in path order without removed points",
			query.Selection{Pattern: "b"},
			[]string{"b/temp 2m0s 2 good", "b/unlisted 0s <b> good"},
		},
		{
			"of named points comes in their order, once each, also of removed ones",
			query.Selection{Points: []point.Path{"c", "silent", "b/gone", "c"}},
			[]string{"c 0s true good", "b/gone 1m0s 1 good"},
		},
		{"of everything", query.Selection{}, []string{"b/temp 2m0s 2 good", "b/unlisted 0s <b> good", "c 0s true good"}},
		{"of nothing is empty", query.Selection{Pattern: "x/*"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := p.Latest(t.Context(), tt.sel)
			if d := cmp.Diff(tt.want, lines(got)); d != "" || err != nil {
				t.Error(d, err)
			}
		})
	}
}

func TestRangeSaysHowCompleteItIs(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	minute := func(path point.Path) point.Info { return point.Info{Path: path, Interval: time.Minute, Unit: "kW"} }
	p.know(minute("full"), minute("half"), minute("ill"), minute("empty"), minute("late"), point.Info{Path: "irregular"})
	p.record(every("full", time.Minute, ramp(60)...)...)
	p.record(every("half", 2*time.Minute, ramp(30)...)...)
	ill := every("ill", time.Minute, ramp(60)...)
	for i := range 15 {
		ill[i].Value, ill[i].Quality = point.Value{}, point.BadTimeout
	}
	p.record(ill...)
	p.record(every("irregular", time.Second, ramp(7)...)...)
	tests := []struct {
		name  string
		req   query.Request
		want  query.Coverage
		ratio float64
	}{
		{"everything is there", hour("full"), query.Coverage{Known: true, Expected: 60, Present: 60}, 1},
		{"every other sample is missing", hour("half"), query.Coverage{Known: true, Expected: 60, Present: 30}, 0.5},
		{"bad samples do not count as there", hour("ill"), query.Coverage{Known: true, Expected: 60, Present: 45, Bad: 15}, 0.75},
		{"nothing is there", hour("empty"), query.Coverage{Known: true, Expected: 60}, 0},
		{"nothing is known about the interval", hour("irregular"), query.Coverage{Present: 7}, math.NaN()},
		{"a limit cuts the samples, not the count", func() query.Request {
			r := hour("ill")
			r.Limit = 20
			return r
		}(), query.Coverage{Known: true, Expected: 60, Present: 45, Bad: 15}, 0.75},
		{"nothing is expected before the point was known", query.Request{
			Selection: query.Selection{Points: []point.Path{"full"}}, From: at(-time.Hour), To: at(time.Hour),
		}, query.Coverage{Known: true, Expected: 60, Present: 60}, 1},
		{"nothing is expected of the future", query.Request{
			Selection: query.Selection{Points: []point.Path{"full"}}, From: at(23 * time.Hour), To: at(99 * time.Hour),
		}, query.Coverage{Known: true, Expected: 60}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := p.Range(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, a.Series[0].Coverage); d != "" {
				t.Error(d)
			}
			ratio, known := a.Series[0].Coverage.Ratio()
			if known == math.IsNaN(tt.ratio) || (known && ratio != tt.ratio) {
				t.Errorf("the ratio is %v, %v; want %v", ratio, known, tt.ratio)
			}
		})
	}
	t.Run("the total covers the series whose interval is known", func(t *testing.T) {
		a, err := p.Range(t.Context(), hour("full", "half", "irregular"))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(query.Coverage{Known: true, Expected: 120, Present: 90}, a.Total); d != "" {
			t.Error(d)
		}
	})
}

func TestRangeSelects(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "a/1", Unit: "kW"}, point.Info{Path: "a/2"})
	p.record(every("a/1", time.Minute, ramp(4)...)...)
	p.record(every("b", time.Minute, ramp(4)...)...)
	limited := func(newest bool) query.Request {
		return query.Request{Selection: query.Selection{Pattern: "a/1"}, From: noon(), To: now(), Limit: 2, Newest: newest}
	}
	tests := []struct {
		name      string
		req       query.Request
		want      [][]string
		truncated bool
	}{
		{
			"from inclusive to exclusive",
			query.Request{Selection: query.Selection{Points: []point.Path{"b"}}, From: at(time.Minute), To: at(3 * time.Minute)},
			[][]string{{"b 1m0s 1 good", "b 2m0s 2 good"}},
			false,
		},
		{
			"the points of a pattern, also without samples",
			query.Request{Selection: query.Selection{Pattern: "a/*"}, From: noon(), To: at(time.Second)},
			[][]string{{"a/1 0s 0 good"}, nil},
			false,
		},
		{"the oldest within a limit", limited(false), [][]string{{"a/1 0s 0 good", "a/1 1m0s 1 good"}}, true},
		{"the newest within a limit", limited(true), [][]string{{"a/1 2m0s 2 good", "a/1 3m0s 3 good"}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := p.Range(t.Context(), tt.req)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]string
			for _, s := range a.Series {
				got = append(got, lines(s.Samples))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if a.Series[0].Truncated != tt.truncated {
				t.Errorf("truncated is %v", a.Series[0].Truncated)
			}
		})
	}
}

func TestTooMuchIsRefusedWithWhatToDo(t *testing.T) {
	p := newPlant(t, query.Limits{Points: 2, Latest: 3, Samples: 100, Scan: 1000})
	p.know(point.Info{Path: "k/1", Interval: time.Second})
	p.record(every("u", time.Millisecond, ramp(200)...)...)
	for i := range 4 {
		p.record(every(point.Path(fmt.Sprintf("m/%d", i)), time.Minute, ramp(1)...)...)
	}
	many := query.Request{Selection: query.Selection{Pattern: "m"}, From: noon(), To: now()}
	tests := []struct {
		name string
		ask  func() error
		want string
	}{
		{"a range of too many points", func() error { _, err := p.Range(t.Context(), many); return err }, "narrower pattern"},
		{"newest values of too many points", func() error { _, err := p.Latest(t.Context(), many.Selection); return err }, "narrower pattern"},
		{"an export of too many points", func() error { return p.Export(t.Context(), many, nil) }, "narrower pattern"},
		{"a range that the interval says is too long", func() error { _, err := p.Range(t.Context(), hour("k/1")); return err }, "shorten the time"},
		{"a range that turns out to be too long", func() error { _, err := p.Range(t.Context(), hour("u")); return err }, "shorten the time"},
		{"too many steps", func() error {
			_, err := p.Aggregate(t.Context(), hour("u"), query.Aggregation{Step: query.Step{Duration: time.Second}})
			return err
		}, "longer step"},
		{"a step of nothing", func() error { _, err := p.Aggregate(t.Context(), hour("u"), query.Aggregation{}); return err }, "at least 1ms"},
		{"a step that does not divide a day of a zone", func() error {
			_, err := p.Aggregate(t.Context(), hour("u"), query.Aggregation{Step: query.Step{Duration: 7 * time.Minute}, Zone: time.UTC})
			return err
		}, "divide a day"},
		{"more to read than may be", func() error {
			_, err := p.Aggregate(t.Context(), hour("k/1"), query.Aggregation{Step: query.Step{Duration: time.Hour}})
			return err
		}, "about 3600 samples would have to be read and 1000 may be"},
		{"a plot that is too wide", func() error { _, err := p.Plot(t.Context(), hour("u"), 1<<40); return err }, "ask for 10 to 10000"},
		{"a plot without width", func() error { _, err := p.Plot(t.Context(), hour("u"), 0); return err }, "ask for 10 to 10000"},
		{"a plot of too many points", func() error { _, err := p.Plot(t.Context(), hour("u", "k/1"), 20); return err }, "name at most 1 points"},
		{"a time that ends before it begins", func() error {
			_, err := p.Range(t.Context(), query.Request{From: now(), To: noon()})
			return err
		}, "before to"},
		{"a negative limit", func() error {
			r := hour("u")
			r.Limit = -1
			_, err := p.Range(t.Context(), r)
			return err
		}, "not be negative"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.ask()
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want invalid: …%s…", err, tt.want)
			}
		})
	}
}

func TestPlotShowsFewSamplesAsTheyAre(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.record(every("fan", time.Minute, point.BoolOf(true), point.BoolOf(false), point.Value{})...)
	a, err := p.Plot(t.Context(), hour("fan"), 100)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"fan 0s 1 good", "fan 1m0s 0 good", "fan 2m0s  good"}, lines(a.Series[0].Samples)); d != "" || a.Step != 0 {
		t.Error(d, a.Step)
	}
}

func TestPlotKeepsWhatTheEyeWouldMiss(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	values := ramp(3600)
	values[1234] = point.FloatOf(1e6)
	values[2345] = point.FloatOf(-1e6)
	samples := every("spiky", time.Second, values...)
	for i := 600; i < 1200; i++ {
		samples[i].Quality, samples[i].Value = point.BadUnreachable, point.Value{}
	}
	p.record(samples...)
	p.record(every("mode", time.Second, times(3600, point.TextOf("auto"))...)...)
	a, err := p.Plot(t.Context(), hour("spiky", "mode"), 60)
	if err != nil {
		t.Fatal(err)
	}
	if a.Step < time.Minute || a.Step > time.Minute+time.Millisecond {
		t.Errorf("the step is %v, want a minute", a.Step)
	}
	spiky, mode := a.Series[0], a.Series[1]
	text := strings.Join(lines(spiky.Samples), "\n")
	for _, want := range []string{"spiky 20m34s 1000000 good", "spiky 39m5s -1000000 good", "  bad"} {
		if !strings.Contains(text, want) {
			t.Errorf("the plot lacks %q", want)
		}
	}
	if len(spiky.Samples) > 4*60 {
		t.Errorf("the plot has %d samples for 60 pixels", len(spiky.Samples))
	}
	if c := spiky.Coverage; c.Present != 3000 || c.Bad != 600 {
		t.Errorf("coverage is %+v", c)
	}
	if n := len(mode.Samples); n != 240 || !mode.Truncated || mode.Samples[n-1].Time != at(3599*time.Second) {
		t.Errorf("text gives %d samples, truncated %v; want the newest 240", n, mode.Truncated)
	}
}

// A plot of any samples keeps the greatest and the least, stays in time order and in its budget.
func TestPlotKeepsPeaksOfAnything(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	n := 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		path := point.Path(fmt.Sprintf("p%d", n))
		micros := rapid.SliceOfNDistinct(rapid.Int64Range(0, time.Hour.Microseconds()-1), 1, 400, rapid.ID).Draw(r, "times")
		var samples []point.Sample
		least, most := math.Inf(1), math.Inf(-1)
		for _, m := range micros {
			v := rapid.Float64Range(-1e9, 1e9).Draw(r, "value")
			least, most = min(least, v), max(most, v)
			samples = append(samples, point.Sample{Point: path, Time: at(time.Duration(m) * time.Microsecond), Value: point.FloatOf(v)})
		}
		p.record(samples...)
		pixels := rapid.IntRange(query.MinPixels, 60).Draw(r, "pixels")
		a, err := p.Plot(context.Background(), hour(path), pixels)
		if err != nil {
			r.Fatal(err)
		}
		got := a.Series[0].Samples
		if len(got) > 4*pixels {
			r.Fatalf("%d samples for %d pixels", len(got), pixels)
		}
		for i, s := range got {
			v, _ := s.Value.Number()
			least, most = min(least, v), max(most, v)
			if i > 0 && !s.Time.After(got[i-1].Time) {
				r.Fatal("not in time order")
			}
		}
		if !holds(got, least) || !holds(got, most) {
			r.Fatalf("the plot lacks %v or %v", least, most)
		}
	})
}

func holds(samples []point.Sample, value float64) bool {
	for _, s := range samples {
		if v, ok := s.Value.Number(); ok && v == value {
			return true
		}
	}
	return false
}

func TestAggregate(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "m", Interval: time.Minute}, point.Info{Path: "silent"})
	p.record(every("m", time.Minute, ramp(60)...)...)
	got, err := p.Aggregate(t.Context(), hour("m", "silent"), query.Aggregation{Step: query.Step{Duration: 30 * time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	b := got.Series[0].Buckets
	if len(b) != 2 || b[0].Mean != 14.5 || b[1].Min != 30 || b[1].Max != 59 || b[0].Sum != 435 || b[1].First != 30 || b[1].Last != 59 || b[0].Count != 30 {
		t.Errorf("buckets are %+v", b)
	}
	if d := cmp.Diff(query.Coverage{Known: true, Expected: 60, Present: 60}, got.Series[0].Coverage); d != "" {
		t.Error(d)
	}
	if len(got.Series[1].Buckets) != 0 {
		t.Error("a point without samples has buckets")
	}
}

func TestExportGivesEverythingAndEndsEarly(t *testing.T) {
	p := newPlant(t, query.Limits{Points: 1, Latest: 10, Samples: 1, Scan: 1})
	p.record(every("a", time.Second, ramp(100)...)...)
	p.record(every("b", time.Second, ramp(100)...)...)
	req := query.Request{From: noon(), To: now()}
	n := 0
	err := p.Export(t.Context(), req, func(run []point.Sample) error { n += len(run); return nil })
	if n != 200 || err != nil {
		t.Errorf("exported %d samples, %v; want 200", n, err)
	}
	stop := fmt.Errorf("enough")
	if err := p.Export(t.Context(), req, func([]point.Sample) error { return stop }); err == nil {
		t.Error("an error of the receiver is lost")
	}
	if _, err := p.ExportParquet(t.Context(), req, "x"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("Parquet from a store that has none gives %v, want unavailable", err)
	}
}

func BenchmarkPlotAMonth(b *testing.B) {
	p := newPlant(b, query.DefaultLimits())
	p.know(point.Info{Path: "m", Interval: time.Minute})
	p.record(every("m", time.Minute, ramp(43_200)...)...)
	req := query.Request{Selection: query.Selection{Points: []point.Path{"m"}}, From: noon(), To: at(30 * 24 * time.Hour)}
	for b.Loop() {
		if _, err := p.Plot(b.Context(), req, 800); err != nil {
			b.Fatal(err)
		}
	}
}
