package duckdb_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/duckdb/engine"
)

// cell is a number in an export.
type cell struct {
	Point point.Path
	Time  time.Time
	Value float64
}

// cells reads an export in the order in which it was written.
func cells(t *testing.T, file string) []cell {
	t.Helper()
	db, err := engine.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out []cell
	err = c.Query(t.Context(), "SELECT point, time, value FROM read_parquet($1)", func(ch *engine.Chunk) error {
		points, times, values := ch.Texts(0), engine.Numbers[int64](ch, 1), engine.Numbers[float64](ch, 2)
		for i := range ch.Rows {
			out = append(out, cell{point.Path(points.At(i)), engine.Time(times[i]), values[i]})
		}
		return nil
	}, file)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// scattered makes a block with a sample of each point at each time, the points within a time turned,
// whose values tell them apart.
func scattered(sequence uint64, points []point.Path, times ...time.Time) *point.Block {
	b := &point.Block{Origin: "a", Sequence: sequence, Points: points}
	for n, at := range times {
		for i := range points {
			b.Append(uint32((i+n)%len(points)), &point.Sample{Time: at, Value: point.FloatOf(float64(sequence) + float64(n)/100)})
		}
	}
	return b
}

func TestAnExportHoldsEveryDaySortedByPointAndTime(t *testing.T) {
	s, err := duckdb.Open(t.Context(), duckdb.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	day := func(n, hour int) time.Time { return noon().AddDate(0, 0, n).Add(time.Duration(hour) * time.Hour) }
	points := []point.Path{"z", "a", "m", "unasked", "b"} // numbered in this order
	appendBlocks(t, s,
		scattered(1, points, day(-3, 0), day(-3, 1)),
		scattered(2, points, day(-2, 0), day(-2, 1)),
		scattered(3, points, day(-1, 0), day(-1, 1)),
	)
	maintain(t, s, noon())
	appendBlocks(t, s,
		scattered(4, points, day(-2, -3), day(-2, 1)), // late: one more, and one again
		scattered(5, points, day(0, 0), day(0, -2), day(0, 1)),
	)

	asked := []point.Path{"b", "z", "a", "m", "never seen"}
	for name, r := range map[string]store.Range{
		"all days":                {Points: asked, From: noon().AddDate(0, 0, -9), To: noon().AddDate(0, 0, 9)},
		"a part of two days":      {Points: asked, From: day(-3, 1), To: day(-2, 1)},
		"points side by side":     {Points: points[:3], From: noon().AddDate(0, 0, -9), To: noon().AddDate(0, 0, 9)},
		"a day that holds none":   {Points: asked, From: noon().AddDate(0, 0, -9), To: noon().AddDate(0, 0, -8)},
		"a point that holds none": {Points: asked[4:], From: noon().AddDate(0, 0, -9), To: noon().AddDate(0, 0, 9)},
	} {
		file := filepath.Join(t.TempDir(), "export.parquet")
		n, err := s.ExportParquet(t.Context(), r, file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := readCells(t, s, r)
		slices.SortStableFunc(want, func(a, b cell) int {
			return cmp.Or(a.Time.Truncate(24*time.Hour).Compare(b.Time.Truncate(24*time.Hour)),
				cmp.Compare(slices.Index(points, a.Point), slices.Index(points, b.Point)), a.Time.Compare(b.Time))
		})
		if diff := gocmp.Diff(want, cells(t, file)); diff != "" || int(n) != len(want) {
			t.Errorf("%s: %d samples, want %d (-want +got):\n%s", name, n, len(want), diff)
		}
	}
}

// readCells returns what Read gives.
func readCells(t *testing.T, s store.Store, r store.Range) []cell {
	t.Helper()
	var out []cell
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		for i := range run {
			v, _ := run[i].Value.Number()
			out = append(out, cell{run[i].Point, run[i].Time, v})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
