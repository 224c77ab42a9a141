package overlay_test

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/memory"
	"voltbus/store/overlay"
)

func begin() time.Time { return time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC) }

// drawSamples draws samples of few points and times, so that some have one time.
func drawSamples(t *rapid.T, points []point.Path) []point.Sample {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) point.Sample {
		s := point.Sample{
			Point: rapid.SampledFrom(points).Draw(t, "point"),
			Time:  begin().Add(time.Duration(rapid.IntRange(0, 400).Draw(t, "time")) * 7 * time.Minute),
		}
		switch rapid.IntRange(0, 7).Draw(t, "kind") {
		case 0:
			s.Value, s.Quality = point.IntOf(int64(rapid.IntRange(-5, 5).Draw(t, "int"))), point.Bad
		case 1:
			s.Value = point.TextOf("open")
		case 2:
			s.Value = point.BoolOf(rapid.Bool().Draw(t, "bool"))
		case 3:
			s.Value = point.FloatOf(math.NaN())
		case 4:
			s.Quality = point.Bad // without a value
		default:
			s.Value = point.FloatOf(float64(rapid.IntRange(-500, 500).Draw(t, "float")) / 8)
		}
		return s
	}), 0, 120).Draw(t, "samples")
}

func keep(t *rapid.T, s store.Store, sequence uint64, samples []point.Sample) {
	b := &point.Block{Origin: "test", Sequence: sequence, Created: begin()}
	for i := range samples {
		at := slices.Index(b.Points, samples[i].Point)
		if at < 0 {
			at = len(b.Points)
			b.Points = append(b.Points, samples[i].Point)
		}
		b.Append(uint32(at), &samples[i])
	}
	if _, err := s.Append(context.Background(), []*point.Block{b}); err != nil {
		t.Fatal(err)
	}
}

// drawQuery draws an aggregation in steps, or between edges of different lengths.
func drawQuery(t *rapid.T, r store.Range) store.Query {
	q := store.Query{Range: r, Step: time.Duration(rapid.IntRange(1, 30).Draw(t, "step")) * 20 * time.Minute}
	if rapid.Bool().Draw(t, "edges") {
		at := r.From.Add(-time.Hour)
		for q.Edges = []time.Time{at}; at.Before(r.To); {
			at = at.Add(time.Duration(rapid.IntRange(1, 1500).Draw(t, "edge")) * time.Minute)
			q.Edges = append(q.Edges, at)
		}
	}
	if rapid.IntRange(0, 3).Draw(t, "bounded") == 0 {
		q.Limit, q.Newest = rapid.IntRange(1, 9).Draw(t, "most"), rapid.Bool().Draw(t, "those")
	}
	if rapid.Bool().Draw(t, "extras") {
		q.Extras = store.Extras{Quantiles: []float64{0.5, 0.9}, Deviation: true, Until: begin().Add(40 * time.Hour)}
		for range r.Points {
			q.Extras.Hold = append(q.Extras.Hold, time.Duration(rapid.IntRange(0, 500).Draw(t, "hold"))*time.Minute)
		}
	}
	return q
}

func read(t *rapid.T, s store.Store, r store.Range) []point.Sample {
	var all []point.Sample
	if err := s.Read(context.Background(), r, func(run []point.Sample) error {
		all = append(all, run...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestAnOverlayAnswersAsOneStoreWithAllSamples(t *testing.T) {
	points := []point.Path{"a", "b", "c", "d"}
	rapid.Check(t, func(t *rapid.T) {
		one, base := memory.New(memory.Options{}), memory.New(memory.Options{})
		before, after := drawSamples(t, points), drawSamples(t, points[1:])
		keep(t, one, 1, before)
		keep(t, base, 1, before)
		keep(t, one, 2, after)
		added := overlay.Samples{}
		for _, s := range after {
			added[s.Point] = append(added[s.Point], s)
		}
		for p := range added {
			added[p] = overlay.Order(added[p])
		}
		both := overlay.New(base, added)
		from := begin().Add(time.Duration(rapid.IntRange(-10, 2000).Draw(t, "from")) * time.Minute).Add(parts(t))
		to := from.Add(time.Duration(rapid.IntRange(1, 3000).Draw(t, "long")) * time.Minute).Add(parts(t))
		r := store.Range{Points: rapid.Permutation(points).Draw(t, "order"), From: from, To: to}
		q := drawQuery(t, r)
		r.Limit, r.Newest, r.GoodOnly = rapid.IntRange(0, 9).Draw(t, "limit"), rapid.Bool().Draw(t, "newest"), rapid.Bool().Draw(t, "good")
		compare(t, one, both, r, q)
	})
}

// parts draws a part of a microsecond, which no store counts, or none.
func parts(t *rapid.T) time.Duration {
	return time.Duration(rapid.SampledFrom([]int{0, 0, 400}).Draw(t, "nanoseconds"))
}

func compare(t *rapid.T, one, both store.Store, r store.Range, q store.Query) {
	ctx := context.Background()
	values := cmp.Comparer(func(a, b point.Value) bool { return a == b })
	if diff := cmp.Diff(read(t, one, r), read(t, both, r), values); diff != "" {
		t.Fatalf("Read differs: %s", diff)
	}
	want, err := one.Aggregate(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	got, err := both.Aggregate(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want { // no buckets are none, empty or nil
		if len(want[i].Buckets) == 0 && len(got[i].Buckets) == 0 {
			got[i].Buckets = want[i].Buckets
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("Aggregate differs: %s", diff)
	}
	counts, err := one.Count(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	others, err := both.Count(ctx, q)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(counts, others); diff != "" {
		t.Fatalf("Count differs: %s", diff)
	}
	newest, _ := one.Latest(ctx, r.Points)
	latest, _ := both.Latest(ctx, r.Points)
	if diff := cmp.Diff(newest, latest, values); diff != "" {
		t.Fatalf("Latest differs: %s", diff)
	}
	paths, _ := one.Points(ctx)
	known, _ := both.Points(ctx)
	if !slices.Equal(paths, known) {
		t.Fatalf("Points differ: %v and %v", paths, known)
	}
}
