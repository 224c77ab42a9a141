package duckdb_test

import (
	"testing"
	"time"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/meter/store/metertest"
)

func open(tb testing.TB, dir string, zone *time.Location, now func() time.Time, cells int) store.Store {
	tb.Helper()
	s, err := duckdb.Open(tb.Context(), duckdb.Options{Dir: dir, Zone: zone, Now: now, Cells: cells})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func counting(s store.Store) store.Progressive { return duckdb.Counting{Store: s.(*duckdb.Store)} } //nolint:forcetypeassert // open makes it

func TestStore(t *testing.T) {
	metertest.Run(t, metertest.Engine{Durable: true, Progress: counting, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		return open(tb, dir, zone, now, 0)
	}})
}

func TestStoreThatJudgesInSmallBlocks(t *testing.T) {
	metertest.Run(t, metertest.Engine{Durable: true, Progress: counting, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		return open(tb, dir, zone, now, 1)
	}})
}
