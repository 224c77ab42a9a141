package query_test

import (
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
