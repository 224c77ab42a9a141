package duckdb_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/goleak"

	"voltbus/store"
	"voltbus/store/duckdb"
	"voltbus/store/duckdb/statement"
	"voltbus/store/storetest"
)

// The test program is also the process of a statement.
func TestMain(m *testing.M) {
	if os.Getenv(statement.Env) != "" {
		if err := duckdb.ServeStatement(context.Background()); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// open opens a store that must open.
func open(tb testing.TB, o duckdb.Options) *duckdb.Store {
	tb.Helper()
	o.Statement = func([]string, string) []string { return []string{os.Args[0]} }
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
