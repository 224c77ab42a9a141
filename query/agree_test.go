package query_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/catalog"
	"voltbus/point"
	"voltbus/query"
)

// The heat map and the answer of a range count the same samples as expected, however wide a cell is.
func TestTheHeatMapAndARangeAgreeAboutPointsThatAreNew(t *testing.T) {
	seen := at(50 * time.Minute)
	end := at(3 * time.Hour)
	ramps := func(from time.Duration, n int) []point.Sample {
		samples := every("new/m", time.Minute, ramp(n)...)
		for i := range samples {
			samples[i].Time = samples[i].Time.Add(from)
		}
		return samples
	}
	for name, samples := range map[string][]point.Sample{
		"healthy since it was seen":            ramps(50*time.Minute, 130),
		"with an hour missing":                 append(ramps(50*time.Minute, 40), ramps(150*time.Minute, 30)...),
		"with samples from before it was seen": append(ramps(20*time.Minute, 30), ramps(50*time.Minute, 130)...),
		"never read":                           nil,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := catalog.Open(t.Context(), t.TempDir(), func() time.Time { return seen })
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			p := newPlant(t, query.DefaultLimits())
			p.catalog, p.Engine = c, query.New(p.store, c, query.DefaultLimits(), func() time.Time { return end })
			p.know(point.Info{Path: "new/m", Device: "new", Interval: time.Minute})
			p.record(samples...)
			whole, err := p.Range(t.Context(), query.Request{Selection: query.Selection{Points: []point.Path{"new/m"}}, From: noon(), To: end})
			if err != nil {
				t.Fatal(err)
			}
			want, _ := whole.Total.Ratio()
			for _, steps := range []int{1, 3, 18} {
				h, err := p.Completeness(t.Context(), query.HeatMap{From: noon(), To: end, Steps: steps, Rows: 1})
				if err != nil {
					t.Fatal(err)
				}
				row := h.Rows[0]
				if got := float64(row.Present) / float64(row.Expected); got < want-0.01 || got > want+0.01 {
					t.Errorf("in %d cells %d of %d samples, %.3f; of the range %+v, %.3f", steps, row.Present, row.Expected, got, whole.Total, want)
				}
			}
		})
	}
}

func TestWhereNothingIsExpectedYetNothingIsSaidToBeComplete(t *testing.T) {
	if ratio, known := (query.Coverage{Known: true}).Ratio(); known {
		t.Errorf("a point of which no sample is expected yet is %v complete", ratio)
	}
}

// hostile returns the samples of a point each minute from a moment for a number of minutes, without those that drop names.
func hostile(from time.Duration, n int, drop func(i int) bool) []point.Sample {
	var samples []point.Sample
	for i, s := range every("d/m", time.Minute, ramp(n)...) {
		if drop == nil || !drop(i) {
			s.Time = s.Time.Add(from)
			samples = append(samples, s)
		}
	}
	return samples
}

func TestTheHeatMapAndARangeCountTheSameSamples(t *testing.T) {
	const day = 24 * 60
	for name, c := range map[string]struct {
		from, to time.Duration // of the question
		interval time.Duration
		samples  []point.Sample
	}{
		"a whole day":                       {0, 24 * time.Hour, time.Minute, hostile(0, day, nil)},
		"a day of 23 hours":                 {11 * time.Hour, 34 * time.Hour, time.Minute, hostile(0, 2*day, nil)},
		"a day of 25 hours":                 {11 * time.Hour, 36 * time.Hour, time.Minute, hostile(0, 2*day, nil)},
		"each third is missing":             {0, 24 * time.Hour, time.Minute, hostile(0, day, func(i int) bool { return i%3 == 0 })},
		"the node was down for two hours":   {0, 24 * time.Hour, time.Minute, hostile(0, day, func(i int) bool { return i > 300 && i <= 420 })},
		"it began late":                     {0, 24 * time.Hour, time.Minute, hostile(7*time.Hour, day-7*60, nil)},
		"it ended early":                    {0, 24 * time.Hour, time.Minute, hostile(0, day/2, nil)},
		"it only reports, without interval": {0, 24 * time.Hour, 0, hostile(0, day, nil)},
		"a deadband holds most back":        {0, 24 * time.Hour, time.Minute, hostile(0, day, func(i int) bool { return i%50 != 0 })},
		"it reports more often than asked":  {0, 24 * time.Hour, 5 * time.Minute, hostile(0, day, nil)},
		"never read":                        {0, 24 * time.Hour, time.Minute, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlant(t, query.DefaultLimits())
			p.Engine = query.New(p.store, p.catalog, query.DefaultLimits(), func() time.Time { return at(72 * time.Hour) })
			p.know(point.Info{Path: "d/m", Device: "d", Interval: c.interval})
			p.record(c.samples...)
			whole, err := p.Range(t.Context(), query.Request{Selection: query.Selection{Points: []point.Path{"d/m"}}, From: at(c.from), To: at(c.to)})
			if err != nil {
				t.Fatal(err)
			}
			want, known := whole.Total.Ratio()
			for _, steps := range []int{1, int((c.to - c.from) / time.Hour)} {
				h, err := p.Completeness(t.Context(), query.HeatMap{From: at(c.from), To: at(c.to), Steps: steps, Rows: 1})
				if err != nil {
					t.Fatal(err)
				}
				row := h.Rows[0]
				if (row.Expected > 0) != known || row.Expected != whole.Total.Expected {
					t.Fatalf("in %d cells %d are expected, of the range %+v", steps, row.Expected, whole.Total)
				}
				if got := float64(row.Present) / float64(row.Expected); known && got != want {
					t.Errorf("in %d cells %d of %d, %.4f; of the range %+v, %.4f", steps, row.Present, row.Expected, got, whole.Total, want)
				}
			}
		})
	}
}

// What a point reports more often than it should makes up nowhere for the time in which it was down.
func TestSamplesBeyondTheIntervalMakeUpForNoneThatAreMissing(t *testing.T) {
	seen, end := noon(), at(8*time.Hour)
	p := newPlantAt(t, func() time.Time { return end })
	p.know(point.Info{Path: "fast/m", Device: "fast", Interval: time.Minute})
	p.record(every("fast/m", 30*time.Second, ramp(4*120)...)...) // four hours of eight
	ask := query.Request{Selection: query.Selection{Points: []point.Path{"fast/m"}}, From: seen, To: end}
	near := func(how string, counted, expected int64) {
		t.Helper()
		if expected != 480 || counted < 238 || counted > 242 {
			t.Errorf("%s: %d of %d, of which one half should be there", how, counted, expected)
		}
	}
	ratio := func(how string, c query.Coverage) {
		t.Helper()
		r, _ := c.Ratio()
		near(how, int64(r*float64(c.Expected)+0.5), c.Expected)
	}
	a, err := p.Range(t.Context(), ask)
	if err != nil {
		t.Fatal(err)
	}
	ratio("range", a.Total)
	limited := ask
	limited.Limit = 10
	if a, err = p.Range(t.Context(), limited); err != nil {
		t.Fatal(err)
	}
	ratio("range with a limit", a.Total)
	if a, err = p.Plot(t.Context(), ask, 20); err != nil {
		t.Fatal(err)
	}
	ratio("plot", a.Total)
	for _, step := range []time.Duration{10 * time.Second, 12 * time.Minute, time.Hour} {
		sums, err := p.Aggregate(t.Context(), ask, query.Aggregation{Step: query.Step{Duration: step}})
		if err != nil {
			t.Fatal(err)
		}
		ratio("aggregate in steps of "+step.String(), sums.Total)
	}
	for _, steps := range []int{1, 2, 4, 8, 48} {
		h, err := p.Completeness(t.Context(), query.HeatMap{From: seen, To: end, Steps: steps, Rows: 1})
		if err != nil {
			t.Fatal(err)
		}
		near(fmt.Sprintf("heat map of %d cells", steps), h.Rows[0].Present, h.Rows[0].Expected)
	}
}

// Samples that come somewhat early or late are all counted.
func TestSamplesThatAreNotOnTimeAreComplete(t *testing.T) {
	end := at(time.Hour)
	p := newPlantAt(t, func() time.Time { return end })
	p.know(point.Info{Path: "late/m", Device: "late", Interval: time.Minute})
	samples := every("late/m", time.Minute, ramp(60)...)
	for i := range samples {
		samples[i].Time = samples[i].Time.Add(time.Duration(i*i%50) * time.Second)
	}
	p.record(samples...)
	a, err := p.Range(t.Context(), hour("late/m"))
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := a.Total.Ratio(); r != 1 {
		t.Errorf("%.3f of the samples are counted: %+v", r, a.Total)
	}
}
