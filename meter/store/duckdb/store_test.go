package duckdb_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/meter/store"
	"voltbus/meter/store/duckdb"
	"voltbus/meter/store/metertest"
	"voltbus/store/duckdb/statement"
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

// The test program is also the process of a statement.
func TestMain(m *testing.M) {
	if os.Getenv(statement.Env) != "" {
		if err := statement.Serve(context.Background(), os.Stdin, os.Stdout); err != nil {
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// task is a statement of a person.
func task(t *testing.T, s store.Store, text string) *statement.Task {
	t.Helper()
	source := duckdb.StatementsOf(s.(*duckdb.Store)) //nolint:forcetypeassert // open makes it
	temp := t.TempDir()
	return &statement.Task{
		Statement: text, Source: source, Others: source.Tables(), Read: []string{source.Folder() + "/", temp + "/"}, Temp: temp,
		Spill: 64 << 20, Memory: 256 << 20, Threads: 1, Time: time.Minute,
	}
}

func run(t *testing.T, s store.Store, text string) (rows [][]any, err error) {
	t.Helper()
	err = statement.Run(t.Context(), []string{os.Args[0]}, task(t, s, text), func([]string) error { return nil }, func(r []any) error {
		rows = append(rows, slices.Clone(r))
		return nil
	})
	return rows, err
}

func asking(s store.Store) metertest.Query {
	return func(t *testing.T, text string) [][]any {
		t.Helper()
		rows, err := run(t, s, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return rows
	}
}

func TestStore(t *testing.T) {
	metertest.Run(t, metertest.Engine{Durable: true, Progress: counting, SQL: asking, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		return open(tb, dir, zone, now, 0)
	}})
}

func TestStoreThatJudgesInSmallBlocks(t *testing.T) {
	metertest.Run(t, metertest.Engine{Durable: true, Progress: counting, SQL: asking, Open: func(tb testing.TB, dir string, zone *time.Location, now func() time.Time) store.Store {
		return open(tb, dir, zone, now, 1)
	}})
}
