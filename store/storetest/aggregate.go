package storetest

import (
	"math"
	"slices"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

func aggregateTests() []test {
	return []test{
		{"buckets hold what a plain computation gives", testBuckets},
		{"buckets start at the beginning of the range and not at the hour", testBucketAlignment},
		{"text and NaN are counted and have no figures", testBucketsWithoutNumbers},
		{"bad samples are only counted", testBadBuckets},
		{"a replaced sample is not counted", testBucketVersions},
		{"a limit applies before the buckets", testBucketLimit},
		{"series come in the order asked, without buckets for unknown points", testSeriesOrder},
		{"a step of zero is invalid", testZeroStep},
		{"buckets between edges have the lengths of these", testEdges},
		{"deviation, quantiles and time-weighted mean are what their definitions give", testExtras},
		{"a value counts until the next, until it is too old, and into buckets without samples", testHold},
		{"extras and edges that make no sense are invalid", testWrongExtras},
	}
}

func (f *fixture) aggregate(q store.Query) []store.Series {
	f.tb.Helper()
	out, err := f.Aggregate(f.tb.Context(), q)
	if err != nil {
		f.tb.Fatalf("aggregate: %v", err)
	}
	for i := range out {
		if len(out[i].Buckets) == 0 {
			out[i].Buckets = nil
		}
	}
	return out
}

// naive computes the buckets of one point's samples, in time order, by their definition.
func naive(q store.Query, samples []point.Sample) []store.Bucket {
	byStart := make(map[time.Time][]point.Sample)
	var starts []time.Time
	for _, s := range samples {
		start := q.From.Add(s.Time.Sub(q.From) / q.Step * q.Step)
		if byStart[start] == nil {
			starts = append(starts, start)
		}
		byStart[start] = append(byStart[start], s)
	}
	var out []store.Bucket
	for _, start := range starts {
		out = append(out, naiveBucket(start, byStart[start]))
	}
	return out
}

func naiveBucket(start time.Time, samples []point.Sample) store.Bucket {
	all := len(samples)
	samples = slices.DeleteFunc(slices.Clone(samples), func(s point.Sample) bool { return s.Quality.IsBad() })
	b := store.Bucket{Start: start, Count: uint64(len(samples)), Bad: uint64(all - len(samples))}
	if len(samples) == 0 {
		return b
	}
	b.FirstTime, b.LastTime = samples[0].Time, samples[len(samples)-1].Time
	var numbers []float64
	for _, s := range samples {
		v, ok := s.Value.Number()
		if !ok || math.IsNaN(v) {
			continue
		}
		if len(numbers) == 0 || v < slices.Min(numbers) {
			b.MinTime = s.Time
		}
		if len(numbers) == 0 || v > slices.Max(numbers) {
			b.MaxTime = s.Time
		}
		numbers = append(numbers, v)
		b.Sum += v
	}
	if len(numbers) > 0 {
		b.First, b.Last = numbers[0], numbers[len(numbers)-1]
		b.Min, b.Max = slices.Min(numbers), slices.Max(numbers)
		b.Mean = b.Sum / float64(len(numbers))
	}
	return b
}

func testBuckets(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	var a, b []point.Sample
	for i := range 500 {
		when := at(0).Add(time.Duration(i) * 7 * time.Minute)
		a = append(a, float("a", when, math.Sin(float64(i))*100))
		b = append(b, point.Sample{Point: "b", Time: when.Add(time.Second), Value: point.IntOf(int64(i * i % 97))})
	}
	f.append(slices.Concat(a, b)...)
	q := store.Query{Range: store.Range{Points: []point.Path{"a", "b"}, From: noon(), To: noon().AddDate(0, 0, 9)}, Step: time.Hour}
	expected := []store.Series{{Point: "a", Buckets: naive(q, a)}, {Point: "b", Buckets: naive(q, b)}}
	eachState(t, f, func(t *testing.T) {
		want(t, "series", expected, f.aggregate(q))
	})
}

func testBucketAlignment(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(10), 1), float("p", at(69.999999), 2), float("p", at(70), 3), float("p", at(400), 4))
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: at(10), To: at(500)}, Step: time.Minute}
	eachState(t, f, func(t *testing.T) {
		var starts []time.Time
		for _, b := range f.aggregate(q)[0].Buckets {
			starts = append(starts, b.Start)
		}
		want(t, "starts", []time.Time{at(10), at(70), at(370)}, starts)
	})
}

func testBucketsWithoutNumbers(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(
		point.Sample{Point: "p", Time: at(1), Value: point.TextOf("on")},
		point.Sample{Point: "p", Time: at(2), Value: point.FloatOf(math.NaN())},
		point.Sample{Point: "p", Time: at(3)},
		point.Sample{Point: "p", Time: at(61), Value: point.TextOf("off")},
		float("p", at(62), 4), point.Sample{Point: "p", Time: at(63), Value: point.BoolOf(true)},
	)
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(120)}, Step: time.Minute}
	eachState(t, f, func(t *testing.T) {
		want(t, "series", []store.Series{{Point: "p", Buckets: []store.Bucket{
			{Start: at(0), Count: 3, FirstTime: at(1), LastTime: at(3)},
			{
				Start: at(60), Count: 3, FirstTime: at(61), LastTime: at(63), Sum: 5, Mean: 2.5,
				Min: 1, Max: 4, First: 4, Last: 1, MinTime: at(63), MaxTime: at(62),
			},
		}}}, f.aggregate(q))
	})
}

func testBadBuckets(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(
		point.Sample{Point: "p", Time: at(1), Quality: point.BadTimeout, Value: point.FloatOf(99)},
		point.Sample{Point: "p", Time: at(61), Quality: point.Bad}, float("p", at(62), 4),
		point.Sample{Point: "p", Time: at(63), Quality: point.Released}, // has no usable value either
	)
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(120)}, Step: time.Minute}
	four := store.Bucket{
		Start: at(60), Count: 1, Bad: 2, Sum: 4, Mean: 4, Min: 4, Max: 4, First: 4, Last: 4,
		FirstTime: at(62), LastTime: at(62), MinTime: at(62), MaxTime: at(62),
	}
	eachState(t, f, func(t *testing.T) {
		want(t, "series", []store.Series{{Point: "p", Buckets: []store.Bucket{{Start: at(0), Bad: 1}, four}}}, f.aggregate(q))
		good := q
		good.GoodOnly = true
		onlyFour := four
		onlyFour.Bad = 0
		want(t, "good only", []store.Series{{Point: "p", Buckets: []store.Bucket{onlyFour}}}, f.aggregate(good))
	})
}

func testBucketVersions(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(1), 100), float("p", at(2), 1))
	f.append(float("p", at(1), 3))
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(60)}, Step: time.Hour}
	eachState(t, f, func(t *testing.T) {
		b := f.aggregate(q)[0].Buckets
		want(t, "buckets", 1, len(b))
		want(t, "count", uint64(2), b[0].Count)
		want(t, "sum", 4.0, b[0].Sum)
	})
}

func testBucketLimit(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("p", at(1), 1), float("p", at(2), 2), float("p", at(3), 4))
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: at(0), To: at(60), Limit: 2, Newest: true}, Step: time.Hour}
	eachState(t, f, func(t *testing.T) {
		want(t, "sum of the newest two", 6.0, f.aggregate(q)[0].Buckets[0].Sum)
	})
}

func testSeriesOrder(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(float("a", at(1), 1), float("b", at(2), 2))
	q := store.Query{Range: store.Range{Points: []point.Path{"b", "none", "a", "b"}, From: at(0), To: at(60)}, Step: time.Hour}
	eachState(t, f, func(t *testing.T) {
		got := f.aggregate(q)
		var sums []float64
		for i, s := range got {
			want(t, "point", q.Points[i], s.Point)
			sum := -1.0
			if len(s.Buckets) > 0 {
				sum = s.Buckets[0].Sum
			}
			sums = append(sums, sum)
		}
		want(t, "sums", []float64{2, -1, 1, 2}, sums)
	})
}

func testZeroStep(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	_, err := f.Aggregate(t.Context(), store.Query{Range: everything("p")})
	wantKind(t, err, fault.Invalid)
}
