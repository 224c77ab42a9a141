package duckdb_test

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"
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
	var out []cell
	query(t, "SELECT point, time, value FROM read_parquet("+quoted(file)+")", func(ch *engine.Chunk) {
		points, times, values := ch.Texts(0), engine.Numbers[int64](ch, 1), engine.Numbers[float64](ch, 2)
		for i := range ch.Rows {
			out = append(out, cell{point.Path(points.At(i)), engine.Time(times[i]), values[i]})
		}
	})
	return out
}

func quoted(file string) string { return "'" + strings.ReplaceAll(file, "'", "''") + "'" }

// query runs a statement in a database of its own.
func query(t *testing.T, statement string, each func(*engine.Chunk)) {
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
	err = c.Query(t.Context(), statement, func(ch *engine.Chunk) error {
		each(ch)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
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

func TestALargeOpenDayIsSortedInPieces(t *testing.T) {
	s := openIn(t)
	const times = 60_000
	points := []point.Path{"z", "a", "m", "unasked", "b", "y", "c", "x", "d", "w"} // numbered in this order
	asked := []point.Path{"b", "z", "w", "a", "m", "c", "x"}
	var blocks []*point.Block
	for n := range times / 1000 {
		var at []time.Time
		for i := range 1000 {
			at = append(at, noon().Truncate(24*time.Hour).Add(time.Duration(n*1000+i)*time.Second))
		}
		blocks = append(blocks, scattered(uint64(n+1), points, at...))
	}
	appendBlocks(t, s, blocks...)
	file := filepath.Join(t.TempDir(), "export.parquet")
	n, err := s.ExportParquet(t.Context(), store.Range{Points: asked, From: noon().AddDate(0, 0, -1), To: noon().AddDate(0, 0, 1)}, file)
	if err != nil || n != times*int64(len(asked)) {
		t.Fatalf("%d samples, want %d: %v", n, times*len(asked), err)
	}
	sorted := slices.IsSortedFunc(cells(t, file), func(a, b cell) int {
		order := cmp.Or(cmp.Compare(slices.Index(points, a.Point), slices.Index(points, b.Point)), a.Time.Compare(b.Time))
		if order == 0 {
			t.Errorf("%s at %v is there twice", a.Point, a.Time)
		}
		return order
	})
	if !sorted {
		t.Error("the samples are not sorted by point and time")
	}
}

func TestAnExportIsWhatTheStoreWouldWriteIfItHeldWhatIsAdded(t *testing.T) {
	day := func(n, hour int) time.Time { return noon().AddDate(0, 0, n).Add(time.Duration(hour) * time.Hour) }
	here, all := openIn(t), openIn(t)
	points := []point.Path{"z", "a", "m"}
	stored := []*point.Block{
		scattered(1, points, day(-5, 0), day(-5, 1)), scattered(2, points, day(-3, 0), day(-3, 1)), scattered(3, points, day(-2, 0)),
	}
	late := scattered(4, points, day(-3, -4), day(0, 0), day(0, -3))
	values := []point.Value{
		point.TextOf("it's \"open\""), point.TextOf(""), point.BoolOf(true), point.IntOf(math.MaxInt64), point.IntOf(-3),
		{},
		point.FloatOf(math.Copysign(0, -1)), point.FloatOf(math.NaN()), point.FloatOf(math.Inf(-1)), point.FloatOf(0.1),
	}
	more := map[point.Path][]point.Sample{}
	for _, p := range []point.Path{"new/a", "z", "m", "new/z"} {
		for i, v := range values {
			more[p] = append(more[p], point.Sample{Point: p, Time: day(-3, 1).Add(time.Duration(i) * time.Minute), Value: v, Quality: point.Quality(i)})
		}
		more[p] = append(more[p],
			point.Sample{Point: p, Time: day(-1, 0), Value: point.TextOf("alone in its day")},
			point.Sample{Point: p, Time: day(0, -3), Value: point.IntOf(7), Quality: point.Bad}, // in place of one in a table
		)
	}
	for _, s := range []*duckdb.Store{here, all} {
		appendBlocks(t, s, stored...)
		maintain(t, s, noon())
		appendBlocks(t, s, late)
	}
	block := &point.Block{Origin: "a", Sequence: 5}
	for i, p := range []point.Path{"new/a", "new/z", "m", "z"} { // so that the new ones are numbered in path order
		block.Points = append(block.Points, p)
		for j := range more[p] {
			block.Append(uint32(i), &more[p][j])
		}
	}
	appendBlocks(t, all, block)
	for name, good := range map[string]bool{"all": false, "only good ones": true} {
		r := store.Range{Points: []point.Path{"new/z", "m", "new/a", "z", "a", "none"}, From: day(-9, 0), To: day(9, 0), GoodOnly: good}
		want, got := filepath.Join(t.TempDir(), "want.parquet"), filepath.Join(t.TempDir(), "got.parquet")
		n, err := all.ExportParquet(t.Context(), r, want)
		m, err2 := here.ExportMixed(t.Context(), r, more, got)
		if err != nil || err2 != nil || n != m || n < 40 {
			t.Fatalf("%s: %d and %d samples, %v, %v", name, n, m, err, err2)
		}
		if diff := gocmp.Diff(rowsOf(t, want), rowsOf(t, got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	r := store.Range{Points: []point.Path{"new/a"}, From: day(-9, 0), To: day(9, 0)}
	alone := map[point.Path][]point.Sample{"new/a": more["new/a"]}
	if n, err := openIn(t).ExportMixed(t.Context(), r, alone, filepath.Join(t.TempDir(), "new.parquet")); err != nil || n != int64(len(more["new/a"])) {
		t.Errorf("an empty store writes %d samples, %v", n, err)
	}
}

func openIn(t *testing.T) *duckdb.Store {
	t.Helper()
	s, err := duckdb.Open(t.Context(), duckdb.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rowsOf returns the rows of a file as text, and the names and types of its columns.
func rowsOf(t *testing.T, file string) (out []string) {
	t.Helper()
	for _, statement := range []string{
		"SELECT column_name || ' ' || column_type FROM (DESCRIBE SELECT * FROM read_parquet(" + quoted(file) + "))",
		"SELECT f::VARCHAR FROM read_parquet(" + quoted(file) + ") f",
	} {
		query(t, statement, func(ch *engine.Chunk) {
			texts := ch.Texts(0)
			for i := range ch.Rows {
				out = append(out, strings.Clone(texts.At(i)))
			}
		})
	}
	return out
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
