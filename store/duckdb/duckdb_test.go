package duckdb_test

import (
	"testing"

	"go.uber.org/goleak"

	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open opens a store that must open.
func open(tb testing.TB, o duckdb.Options) *duckdb.Store {
	tb.Helper()
	s, err := duckdb.Open(tb.Context(), o)
	if err != nil {
		tb.Fatalf("open: %v", err)
	}
	return s
}

func TestDuckDBKeepsThePromisesOfAStore(t *testing.T) {
	storetest.Run(t, func(t testing.TB, r store.Retention) func() store.Store {
		dir := t.TempDir()
		return func() store.Store { return open(t, duckdb.Options{Dir: dir, Retention: r}) }
	})
}
