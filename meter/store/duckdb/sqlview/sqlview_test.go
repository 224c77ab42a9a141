package sqlview_test

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/duckdb/registry"
	"voltbus/meter/store/duckdb/sqlview"
	"voltbus/meter/store/duckdb/table"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/statement"
)

// seen returns an empty store with days of so many rows of the sorted table, of which the tables have one.
func seen(t *testing.T, rows ...uint64) *sqlview.Seen {
	t.Helper()
	db, err := engine.Open(":memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Close)
	c, err := db.Connect()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	calendar := store.NewCalendar(time.UTC)
	s := &sqlview.Seen{Conn: c, Dir: directory.New(calendar), Calendar: calendar, Days: map[store.Day]*table.Day{}}
	text := table.Schema + registry.Schema
	for i, n := range rows {
		d := &table.Day{Key: store.Day(20_000 + i), Sealed: n, Judged: true}
		s.Days[d.Key] = d
		text += ";\nCREATE TABLE " + d.SealedTable() + table.SealedColumns + ";\nINSERT INTO " + d.SealedTable() + " VALUES (0, 0, 1, 0, 0, 0)"
	}
	if err := table.ExecAll(t.Context(), c, text); err != nil {
		t.Fatal(err)
	}
	return s
}

func need(from, to int64) statement.Need {
	return statement.Need{Tables: []string{"readings"}, From: from, To: to}
}

// files are the copies of days in a folder.
func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestAttackAStatementOverTooManyReadings(t *testing.T) {
	dir := t.TempDir()
	shown, s := sqlview.New(dir), seen(t, 150_000_000, 150_000_000)
	_, _, err := shown.Views(t.Context(), s, need(-statement.AllDays, statement.AllDays))
	if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "2 days with 300 million versions") || !strings.Contains(err.Error(), "WHERE day >=") {
		t.Errorf("error is %v", err)
	}
	s.Days[20_000].Sealed, s.Days[20_001].Sealed = 1, math.MaxInt64
	if _, _, err := shown.Views(t.Context(), s, need(20_001, 20_001)); !fault.Is(err, fault.Invalid) {
		t.Errorf("of one day: %v", err)
	}
	if list := files(t, dir); len(list) != 0 {
		t.Errorf("it left %v", list)
	}
	views, done, err := shown.Views(t.Context(), s, need(0, 20_000))
	if err != nil || len(views) == 0 {
		t.Fatal(err)
	}
	done()
}

// TestCopiesGoWhenTheyAreTooMany uses days one after another that are too many together.
func TestCopiesGoWhenTheyAreTooMany(t *testing.T) {
	dir := t.TempDir()
	shown, s := sqlview.New(dir), seen(t, 90_000_000, 90_000_000, 90_000_000)
	var fs []string
	for day := range int64(3) {
		_, done, err := shown.Views(t.Context(), s, need(20_000+day, 20_000+day))
		if fault.Is(err, fault.Unavailable) {
			t.Skip("the disk has less than 5 GB")
		}
		if err != nil {
			t.Fatal(err)
		}
		done()
		fs = files(t, dir)
	}
	if len(fs) != 2 {
		t.Errorf("%d copies of days are kept, want 2 of 3: %v", len(fs), fs)
	}
	_, done, err := shown.Views(t.Context(), s, need(20_002, 20_002))
	if err != nil {
		t.Fatal(err)
	}
	done()
	if again := files(t, dir); strings.Join(again, " ") != strings.Join(fs, " ") {
		t.Errorf("the newest day was copied again: %v, then %v", fs, again)
	}
	if info, err := os.Stat(fs[0]); err != nil || info.Size() == 0 {
		t.Error(info, err)
	}
}
