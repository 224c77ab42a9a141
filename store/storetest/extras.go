package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

func testEdges(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(10), 1), float("p", at(69.999999), 2), float("p", at(70), 3), float("p", at(400), 4))
	q := store.Query{
		Range: store.Range{Points: []point.Path{"p"}, From: at(10), To: at(500)},
		Edges: []time.Time{at(0), at(70), at(71), at(72), at(1000)},
	}
	eachState(t, f, func(t *testing.T) {
		var got [][2]float64
		for _, b := range f.aggregate(q)[0].Buckets {
			got = append(got, [2]float64{b.Start.Sub(at(0)).Seconds(), b.Sum})
		}
		want(t, "starts and sums", [][2]float64{{0, 3}, {70, 3}, {72, 4}}, got)
	})
}

// uneven are samples at uneven times, some without a number, some bad.
func uneven() []point.Sample {
	var samples []point.Sample
	when := at(-600)
	for i := range 400 {
		when = when.Add(time.Duration(7+i*i%101) * time.Second)
		s := float("p", when, math.Sin(float64(i))*50)
		switch {
		case i%17 == 3:
			s.Value, s.Quality = point.Value{}, point.BadTimeout
		case i%23 == 5:
			s.Value = point.TextOf("no number")
		}
		samples = append(samples, s)
	}
	return samples
}

func testExtras(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	samples := uneven()
	f.append(samples...)
	q := store.Query{
		Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(19_000)}, Step: 20 * time.Minute,
		Extras: store.Extras{Quantiles: []float64{0, 0.25, 0.5, 0.95, 1}, Deviation: true, Hold: []time.Duration{40 * time.Second}},
	}
	eachState(t, f, func(t *testing.T) {
		buckets := f.aggregate(q)[0].Buckets
		if len(buckets) != 16 {
			t.Fatalf("%d buckets, want 16", len(buckets))
		}
		for _, b := range buckets {
			end := b.Start.Add(q.Step)
			if end.After(q.To) {
				end = q.To
			}
			expected := naiveExtra(samples, b.Start, end, &q.Extras)
			if diff := cmp.Diff(expected, b.Extra, cmpopts.EquateApprox(1e-9, 1e-9)); diff != "" {
				t.Errorf("extras of %s (-want +got):\n%s", b.Start, diff)
			}
		}
	})
}

// naiveExtra computes the figures between two times by their definition.
func naiveExtra(samples []point.Sample, from, to time.Time, asked *store.Extras) *store.Extra {
	x := &store.Extra{}
	var numbers []float64
	sum, weighted := 0.0, 0.0
	for i, s := range samples {
		v, ok := s.Value.Number()
		if !ok || s.Quality.IsBad() {
			continue
		}
		begin, end := s.Time, s.Time.Add(asked.Hold[0])
		if i+1 < len(samples) && samples[i+1].Time.Before(end) {
			end = samples[i+1].Time
		}
		if !s.Time.Before(from) && s.Time.Before(to) {
			numbers = append(numbers, v)
			sum += v
		}
		if begin.Before(from) {
			begin = from
		}
		if end.After(to) {
			end = to
		}
		if counts := end.Sub(begin); counts > 0 {
			x.Held += counts
			weighted += v * counts.Seconds()
		}
	}
	x.Weighted = weighted / x.Held.Seconds()
	mean, squares := sum/float64(len(numbers)), 0.0
	for _, v := range numbers {
		squares += (v - mean) * (v - mean)
	}
	x.Deviation = math.Sqrt(squares / float64(len(numbers)))
	slices.Sort(numbers)
	for _, q := range asked.Quantiles {
		rank := q * float64(len(numbers)-1)
		low, high := numbers[int(math.Floor(rank))], numbers[int(math.Ceil(rank))]
		x.Quantiles = append(x.Quantiles, low+(high-low)*(rank-math.Floor(rank)))
	}
	return x
}

func testHold(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(-50), 8), float("p", at(150), 2), float("p", at(160), 4), point.Sample{Point: "p", Time: at(170), Quality: point.Bad})
	q := store.Query{
		Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(300)}, Step: 20 * time.Second,
		Extras: store.Extras{Hold: []time.Duration{80 * time.Second}},
	}
	type weight struct{ start, count, mean, held float64 }
	eachState(t, f, func(t *testing.T) {
		var got []weight
		for _, b := range f.aggregate(q)[0].Buckets {
			got = append(got, weight{b.Start.Sub(at(0)).Seconds(), float64(b.Count), b.Extra.Weighted, b.Extra.Held.Seconds()})
		}
		expected := []weight{{0, 0, 8, 20}, {20, 0, 8, 10}, {140, 1, 2, 10}, {160, 1, 4, 10}}
		if diff := cmp.Diff(expected, got, cmp.AllowUnexported(weight{})); diff != "" {
			t.Errorf("buckets (-want +got):\n%s", diff)
		}
	})
}

func testWrongExtras(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	whole := store.Range{Points: []point.Path{"p"}, From: at(0), To: at(60)}
	for name, q := range map[string]store.Query{
		"a quantile above 1":             {Range: whole, Step: time.Second, Extras: store.Extras{Quantiles: []float64{95}}},
		"a quantile that is no number":   {Range: whole, Step: time.Second, Extras: store.Extras{Quantiles: []float64{math.NaN()}}},
		"a hold for more points":         {Range: whole, Step: time.Second, Extras: store.Extras{Hold: make([]time.Duration, 2)}},
		"a negative hold":                {Range: whole, Step: time.Second, Extras: store.Extras{Hold: []time.Duration{-1}}},
		"one edge":                       {Range: whole, Edges: []time.Time{at(0)}},
		"edges that do not ascend":       {Range: whole, Edges: []time.Time{at(0), at(50), at(50), at(60)}},
		"edges that begin after a range": {Range: whole, Edges: []time.Time{at(1), at(60)}},
		"edges that end before a range":  {Range: whole, Edges: []time.Time{at(0), at(59)}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.Aggregate(t.Context(), q)
			wantKind(t, err, fault.Invalid)
		})
	}
}
