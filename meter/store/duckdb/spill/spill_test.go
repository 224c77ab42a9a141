package spill_test

import (
	"math"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter/store/duckdb/spill"
	"voltbus/meter/store/duckdb/table"
)

func TestPartsGiveBackTheirRowsInOrder(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.IntRange(1, 50_000).Draw(t, "parts")
		f, err := spill.New(folder, parts)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		want := map[int][]table.Row{}
		seed := table.Row{
			Channel: rapid.Uint32Range(0, math.MaxInt32).Draw(t, "channel"), Place: rapid.Int32().Draw(t, "place"), Value: rapid.Float64().Draw(t, "value"),
			Recorded: rapid.Uint32().Draw(t, "recorded"), Source: rapid.Uint32().Draw(t, "source"),
		}
		run := rapid.Uint32Range(1, 50).Draw(t, "run") // rows with the same place
		for i := range uint32(rapid.IntRange(0, 20_000).Draw(t, "rows")) {
			r := seed
			r.Channel, r.Place, r.Value = (seed.Channel+i*7919)&math.MaxInt32, seed.Place+int32(i/run), seed.Value+float64(i)
			r.Recorded += i / 3 / run
			r.Source ^= i / 7 / run
			to := int(i*31) % min(parts, 5)
			want[to] = append(want[to], r)
			if err := f.Put(to, r); err != nil {
				t.Fatal(err)
			}
		}
		for part := range min(parts, 6) {
			var got []table.Row
			if err := f.Read(part, func(r table.Row) { got = append(got, r) }); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want[part], got); diff != "" {
				t.Fatalf("part %d (-want +got):\n%s", part, diff)
			}
		}
	})
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("the folder has %v (%v): nothing may stay in it", left, err)
	}
}

func TestRowsThatCannotBeWrittenAreAnError(t *testing.T) {
	f, err := spill.New(t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil { // as a disk that fails
		t.Fatal(err)
	}
	for range 1 << 20 {
		if err := f.Put(0, table.Row{}); err != nil {
			return
		}
	}
	t.Error("a million rows went to a file that is closed")
}

func BenchmarkSpill(b *testing.B) {
	f, err := spill.New(b.TempDir(), 70)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const rows = 4_000_000
	for b.Loop() {
		for i := range uint32(rows) {
			if err := f.Put(int(i*7919%70), table.Row{Channel: i, Place: int32(i / 100_000), Value: float64(i), Source: i / 1000}); err != nil {
				b.Fatal(err)
			}
		}
		n := 0
		for part := range 70 {
			if err := f.Read(part, func(table.Row) { n++ }); err != nil || n == 0 {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
