package duckdb_test

import (
	"fmt"
	"testing"
	"time"

	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// ofMany returns a block of one sample of each of many origins, with the next sequence.
func ofMany(origins int, sequence uint64) []*point.Block {
	blocks := make([]*point.Block, origins)
	for i := range blocks {
		b := &point.Block{
			Origin: fmt.Sprintf("child-%d~000000", i), Sequence: sequence, Before: sequence - 1, Points: []point.Path{point.Path(fmt.Sprintf("child-%d/p", i))},
			Created: time.Date(2026, 3, 1, 0, 0, int(sequence), 0, time.UTC), Log: "log", LogSequence: (sequence-1)*uint64(origins) + uint64(i) + 1,
		}
		b.Append(0, &point.Sample{Time: b.Created, Value: point.IntOf(int64(i))})
		blocks[i] = b
	}
	return blocks
}

func TestPositionsOfMoreOriginsThanAStatementNamesSurviveAStart(t *testing.T) {
	const origins = 700
	dir := t.TempDir()
	s, err := duckdb.Open(t.Context(), duckdb.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for sequence := range uint64(3) {
		if _, err := s.Append(t.Context(), ofMany(origins, sequence+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s, err = duckdb.Open(t.Context(), duckdb.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	got, err := s.Positions(t.Context())
	if err != nil || len(got) != origins {
		t.Fatalf("%d origins, want %d: %v", len(got), origins, err)
	}
	want := store.Position{Sequence: 3, Samples: 3, Stored: 3, Time: time.Date(2026, 3, 1, 0, 0, 3, 0, time.UTC)}
	for origin, p := range got {
		if p != want {
			t.Fatalf("%s is at %+v, want %+v", origin, p, want)
		}
	}
}

// BenchmarkOneBlockOfEachOfManyOrigins is a commit of a centre with many small children.
func BenchmarkOneBlockOfEachOfManyOrigins(b *testing.B) {
	const origins = 200
	s, err := duckdb.Open(b.Context(), duckdb.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	sequence := uint64(0)
	for b.Loop() {
		sequence++
		if _, err := s.Append(b.Context(), ofMany(origins, sequence)); err != nil {
			b.Fatal(err)
		}
	}
}
