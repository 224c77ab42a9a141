package duckdb_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// scatteredPoints is how many points the stores of TestScatteredPointsAreFoundAmongOthers have.
const scatteredPoints = 700

// scan makes a block with one sample of each point, whose value is the number of the point.
func scan(sequence uint64, at time.Time) *point.Block {
	b := &point.Block{Origin: "a", Sequence: sequence}
	for i := range scatteredPoints {
		b.Points = append(b.Points, point.Path(fmt.Sprint("p", i)))
		b.Append(uint32(i), &point.Sample{Time: at, Value: point.FloatOf(float64(i))})
	}
	return b
}

func TestScatteredPointsAreFoundAmongOthers(t *testing.T) {
	s := open(t, duckdb.Options{Dir: t.TempDir()})
	defer closeStore(t, s)
	for i := range 3 { // a closed day, an open one, and an open one that is disordered
		appendBlocks(t, s, scan(uint64(i+1), noon().AddDate(0, 0, i-2)))
		maintain(t, s, noon().AddDate(0, 0, -1))
	}
	appendBlocks(t, s, scan(4, noon().Add(-time.Hour)))
	for _, step := range []int{1, 2, 3, 7, 200, 400, 699} {
		t.Run(fmt.Sprint("every point of ", step), func(t *testing.T) {
			r := store.Range{From: noon().AddDate(0, 0, -3), To: noon().AddDate(0, 0, 1)}
			want := map[point.Path]float64{}
			for i := step / 3; i < scatteredPoints; i += step {
				p := point.Path(fmt.Sprint("p", i))
				r.Points = append(r.Points, p)
				want[p] = float64(i)
			}
			wantFour(t, s, r, want)
		})
	}
}

// wantFour checks that each point has four samples of its own.
func wantFour(t *testing.T, s store.Store, r store.Range, want map[point.Path]float64) {
	t.Helper()
	read := map[point.Path]int{}
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		for _, sample := range run {
			if sample.Value != point.FloatOf(want[sample.Point]) {
				t.Errorf("%s is %v", sample.Point, sample.Value)
			}
			read[sample.Point]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	series, err := s.Aggregate(t.Context(), store.Query{Range: r, Step: 1000 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range r.Points {
		b := series[i].Buckets
		if read[p] != 4 || len(b) != 1 || b[0].Count != 4 || b[0].Mean != want[p] {
			t.Errorf("%s: %d samples were read, aggregated are %v; want four", p, read[p], b)
		}
	}
}
