package query_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/query"
)

// uneven returns the samples of a point in periods that repeat: it reports twice as often as its interval asks for, is
// silent, reports early and late, and reports as it should.
func uneven(interval, period, span time.Duration) []point.Sample {
	var samples []point.Sample
	for i, s := range every("d/m", interval/2, ramp(int(2*span/interval))...) {
		phase := time.Duration(i) * interval / 2 / period % 4
		if phase == 1 || phase > 1 && i%2 == 1 {
			continue
		}
		if phase == 2 {
			s.Time = s.Time.Add(time.Duration(i*i%29) * interval / 60)
		}
		samples = append(samples, s)
	}
	return samples
}

// Whoever asks how complete a point is gets one answer, whatever the place: ranges, with or without a limit, plots of
// any width, aggregates in any steps, and heat maps of any cells.
func TestAllPlacesAgreeHowCompleteAPointIs(t *testing.T) {
	for name, tt := range map[string]struct{ interval, period, span time.Duration }{
		"minutes of an hour":    {10 * time.Second, 7 * time.Minute, time.Hour},
		"hours of a day":        {time.Minute, 3 * time.Hour, 24 * time.Hour},
		"half hours of a day":   {time.Minute, 30 * time.Minute, 24 * time.Hour},
		"minutes of half a day": {time.Minute, 20 * time.Minute, 12 * time.Hour},
		"beside the hour":       {time.Minute, 95 * time.Minute, 13 * time.Hour},
		"hours of a week":       {5 * time.Minute, 9 * time.Hour, 7 * 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlantAt(t, func() time.Time { return at(30 * 24 * time.Hour) })
			p.know(point.Info{Path: "d/m", Device: "d", Interval: tt.interval})
			p.record(uneven(tt.interval, tt.period, tt.span)...)
			ask := query.Request{Selection: query.Selection{Points: []point.Path{"d/m"}}, From: noon(), To: at(tt.span)}
			whole, err := p.Range(t.Context(), ask)
			if err != nil {
				t.Fatal(err)
			}
			want, _ := whole.Total.Ratio()
			if want < 0.7 || want > 0.85 {
				t.Fatalf("a quarter of the time is silent, and the range says %.4f", want)
			}
			for place, got := range shares(t, p, ask) {
				if math.Abs(got-want) > 0.01 {
					t.Errorf("%s: %.4f complete; the range says %.4f", place, got, want)
				}
			}
		})
	}
}

func shares(t *testing.T, p *plant, ask query.Request) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	put := func(place string, c query.Coverage, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		out[place], _ = c.Ratio()
	}
	limited := ask
	limited.Limit = 10
	a, err := p.Range(t.Context(), limited)
	put("range with a limit", a.Total, err)
	for _, pixels := range []int{10, 100, 800} {
		a, err := p.Plot(t.Context(), ask, pixels)
		put(fmt.Sprintf("plot of %d pixels", pixels), a.Total, err)
	}
	for _, step := range []time.Duration{10 * time.Second, 7 * time.Minute, time.Hour, 24 * time.Hour, 30 * 24 * time.Hour} {
		a, err := p.Aggregate(t.Context(), ask, query.Aggregation{Step: query.Step{Duration: step}})
		put("aggregate in steps of "+step.String(), a.Total, err)
	}
	for _, steps := range []int{1, 4, 12, 24, 48, 96} {
		h, err := p.Completeness(t.Context(), query.HeatMap{From: ask.From, To: ask.To, Steps: steps, Rows: 1})
		if err != nil {
			t.Fatal(err)
		}
		if h.To.Equal(ask.To) && h.Step%time.Minute == 0 { // it widens to whole hours, and counts whole intervals of a cell
			out[fmt.Sprintf("heat map of %d cells", steps)] = float64(h.Rows[0].Present) / float64(h.Rows[0].Expected)
		}
	}
	return out
}
