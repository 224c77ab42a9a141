package storetest

import (
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

func countTests() []test {
	return []test{
		{"counts are of the usable samples of each step", testCount},
		{"counts of whole hours agree with those of their parts", testCountHours},
		{"more counts than fit into memory are refused", testTooManyCounts},
	}
}

func (f *fixture) count(q store.Query) [][]uint32 {
	f.tb.Helper()
	out, err := f.Count(f.tb.Context(), q)
	if err != nil {
		f.tb.Fatalf("count: %v", err)
	}
	return out
}

func testCount(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	f.append(
		float("p", at(1), 1), float("p", at(59), 1), float("p", at(125), 1), float("q", at(61), 1),
		point.Sample{Point: "p", Time: at(2), Quality: point.BadTimeout}, float("p", at(-1), 1), float("p", at(150), 1),
	)
	f.append(float("p", at(1), 2)) // replaces the first
	q := store.Query{Range: store.Range{Points: []point.Path{"q", "none", "p"}, From: at(0), To: at(150)}, Step: time.Minute}
	eachState(t, f, func(t *testing.T) {
		want(t, "counts", [][]uint32{{0, 1, 0}, nil, {2, 0, 1}}, f.count(q))
	})
}

func testCountHours(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	expected := make([]uint32, 72)
	for i := range 700 {
		at := noon().Add(time.Duration(i) * 6 * time.Minute)
		expected[i/10]++
		f.append(float("p", at, float64(i)), point.Sample{Point: "p", Time: at.Add(time.Second), Quality: point.Bad})
	}
	q := store.Query{Range: store.Range{Points: []point.Path{"p"}, From: noon(), To: noon().AddDate(0, 0, 3)}, Step: time.Hour}
	eachState(t, f, func(t *testing.T) {
		want(t, "hours", [][]uint32{expected}, f.count(q))
		want(t, "hours, asked again", [][]uint32{expected}, f.count(q))
	})
}

func testTooManyCounts(t *testing.T, place Place) {
	f := start(t, place, store.Retention{})
	_, err := f.Count(t.Context(), store.Query{Range: everything("p"), Step: time.Second})
	wantKind(t, err, fault.Invalid)
}
