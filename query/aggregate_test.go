package query_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/query"
)

func steps(t *testing.T, step, zone, functions string) query.Aggregation {
	t.Helper()
	var how query.Aggregation
	var err error
	if how.Step, err = query.ParseStep(step); err != nil {
		t.Fatal(err)
	}
	if zone != "" {
		if how.Zone, err = query.ParseZone(zone); err != nil {
			t.Fatal(err)
		}
	}
	if functions != "" {
		if how.Functions, err = query.ParseFunctions(strings.Split(functions, ",")); err != nil {
			t.Fatal(err)
		}
	}
	return how
}

// The clock of Berlin goes forward on 29 March 2026: that day has 23 hours, and asks for 23 × 60
// samples.
func TestADayOf23HoursIsCompleteWith23Hours(t *testing.T) {
	begin := time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC)
	p := newPlantAt(t, func() time.Time { return begin.AddDate(0, 0, 9) })
	p.know(point.Info{Path: "m", Interval: time.Minute})
	var samples []point.Sample
	for i := range 47 * 60 {
		samples = append(samples, point.Sample{Point: "m", Time: begin.Add(time.Duration(i) * time.Minute), Value: point.FloatOf(1)})
	}
	p.record(samples...)
	req := query.Request{Selection: query.Selection{Points: []point.Path{"m"}}, From: begin, To: begin.Add(47 * time.Hour)}
	got, err := p.Aggregate(t.Context(), req, steps(t, "1d", "Europe/Berlin", "sum"))
	if err != nil {
		t.Fatal(err)
	}
	s := got.Series[0]
	var sums []float64
	for i := range s.Buckets {
		sums = append(sums, query.Values(got.Functions, &s.Buckets[i])...)
	}
	if d := cmp.Diff([]float64{23 * 60, 24 * 60}, sums); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]int64{23 * 60, 24 * 60}, s.Expected); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]time.Time{begin.Add(23 * time.Hour), begin.Add(47 * time.Hour)}, s.Ends); d != "" {
		t.Error(d)
	}
}

func TestFunctionsGiveTheirFigures(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "m", Interval: time.Minute}, point.Info{Path: "text"})
	p.record(every("m", time.Minute, ramp(60)...)...)
	p.record(every("text", time.Minute, times(3, point.TextOf("on"))...)...)
	how := steps(t, "1h", "", "p100,mean,median,p0,count,min,max,sum,first,last,timeweighted,stddev,p95")
	got, err := p.Aggregate(t.Context(), hour("m", "text"), how)
	if err != nil {
		t.Fatal(err)
	}
	values := query.Values(how.Functions, &got.Series[0].Buckets[0])
	want := []float64{59, 29.5, 29.5, 0, 60, 0, 59, 1770, 0, 59, 29.5, math.Sqrt((60*60 - 1) / 12.0), 56.05}
	if d := cmp.Diff(want, values, cmpopts.EquateApprox(1e-12, 0)); d != "" {
		t.Error(d)
	}
	none := math.NaN()
	want = []float64{none, none, none, none, 3, none, none, none, none, none, none, none, none}
	if d := cmp.Diff(want, query.Values(how.Functions, &got.Series[1].Buckets[0]), cmpopts.EquateNaNs()); d != "" {
		t.Error("text:", d)
	}
}

func TestAValueCountsForThreeIntervals(t *testing.T) {
	p := newPlant(t, query.DefaultLimits())
	p.know(point.Info{Path: "m", Interval: time.Minute}, point.Info{Path: "rare"})
	p.record(every("m", time.Hour, ramp(2)...)...)
	p.record(every("rare", 10*time.Hour, ramp(2)...)...)
	req := query.Request{Selection: query.Selection{Points: []point.Path{"m", "rare"}}, From: at(9 * time.Hour), To: at(11 * time.Hour)}
	got, err := p.Aggregate(t.Context(), req, steps(t, "1h", "", "timeweighted"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.Series[0].Buckets); n != 0 {
		t.Errorf("a value that is hours old counts in %d buckets", n)
	}
	rare := got.Series[1].Buckets
	if len(rare) != 2 || rare[0].Extra.Weighted != 0 || rare[0].Count != 0 || rare[1].Extra.Weighted != 1 {
		t.Errorf("a point without an interval has %+v", rare)
	}
}

func TestFunctionsThatDoNotExistAreRefused(t *testing.T) {
	for _, name := range []string{"", "avg", "p", "p101", "p-1", "p1e1", "pNaN", "p0x1", "p1_0", "MEAN"} {
		if list, err := query.ParseFunctions([]string{name}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q gives %v, %v", name, list, err)
		}
	}
}

func TestPatternsComeInPages(t *testing.T) {
	p := newPlant(t, query.Limits{Points: 2, Latest: 9, Samples: 1000, Scan: 100_000})
	for i := range 5 {
		path := point.Path(fmt.Sprintf("m/%d", i))
		if i%2 == 0 {
			p.know(point.Info{Path: path})
		}
		p.record(every(path, time.Minute, ramp(1)...)...)
	}
	p.know(point.Info{Path: "m/quiet"})
	req := query.Request{Selection: query.Selection{Pattern: "m", Page: 2}, From: noon(), To: now()}
	var paths []point.Path
	for {
		a, err := p.Range(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Aggregate(t.Context(), req, steps(t, "1d", "", ""))
		if err != nil || b.Next != a.Next || len(b.Series) != len(a.Series) {
			t.Fatalf("summaries of %d points behind %q, %v", len(b.Series), b.Next, err)
		}
		for _, s := range a.Series {
			paths = append(paths, s.Info.Path)
		}
		if req.After = a.Next; req.After == "" {
			break
		}
	}
	if d := cmp.Diff([]point.Path{"m/0", "m/1", "m/2", "m/3", "m/4", "m/quiet"}, paths); d != "" {
		t.Error(d)
	}
}
