package duckdb_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"voltbus/point"
	"voltbus/store/duckdb"
)

func TestADatabaseOfTheVersionBeforeIsBroughtUpAndGoesOn(t *testing.T) {
	dir := t.TempDir()
	s := threeDays(t, dir)
	before, err := s.Positions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	file := filepath.Join(dir, "history.duckdb")
	changeDatabase(t, file, "ALTER TABLE positions DROP COLUMN left_out")
	setVersion(t, file, 3)
	const origin = "a"
	for range 2 { // the step is taken once
		s = open(t, duckdb.Options{Dir: dir})
		after, err := s.Positions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("the positions (-before +after):\n%s", diff)
		}
		if got := stored(t, s); len(got) != 9 {
			t.Errorf("samples are %v, want nine", got)
		}
		closeStore(t, s)
	}
	s = open(t, duckdb.Options{Dir: dir})
	p := before[origin]
	appendBlocks(t, s, &point.Block{Origin: origin, Sequence: p.Sequence + 2, First: p.Sequence + 1, Before: p.Samples, Left: 7})
	closeStore(t, s)
	s = open(t, duckdb.Options{Dir: dir})
	defer closeStore(t, s)
	after, err := s.Positions(t.Context())
	if err != nil || after[origin].Left != 7 || after[origin].Samples != p.Samples+7 {
		t.Errorf("the position is %+v, %v", after[origin], err)
	}
}
