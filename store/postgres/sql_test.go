package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store/postgres"
)

func ask(ctx context.Context, s *postgres.Store, statement string) (names []string, rows [][]any, err error) {
	err = s.SQL(ctx, statement,
		func(n []string) error { names = n; return nil },
		func(r []any) error { rows = append(rows, r); return nil })
	return names, rows, err
}

func TestSQLSeesSamplesAndPoints(t *testing.T) {
	s := open(t, fresh(t))
	b := block("edge-1", 1, 0)
	for i, v := range []point.Value{point.FloatOf(21.5), point.IntOf(1<<53 + 1), point.BoolOf(true), point.TextOf("a\x00b"), {}} {
		b.Append(0, &point.Sample{Time: noon().Add(time.Duration(i) * time.Second), Value: v, Quality: point.Uncertain})
	}
	appendBlocks(t, s, b)
	names, rows, err := ask(t.Context(), s, "SELECT * FROM samples ORDER BY time")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"point", "time", "value", "exact", "text", "kind", "quality"}, names); diff != "" {
		t.Error(diff)
	}
	row := func(second int, value, exact, text any, kind string) []any {
		return []any{"edge-1/p", noon().Add(time.Duration(second) * time.Second), value, exact, text, kind, int64(point.Uncertain)}
	}
	want := [][]any{
		row(0, 21.5, nil, nil, "float"), row(1, float64(1<<53), int64(1<<53+1), nil, "int"), row(2, 1.0, nil, nil, "bool"),
		row(3, nil, nil, "a␀b", "text"), row(4, nil, nil, nil, "none"),
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	_, rows, err = ask(t.Context(), s, "-- types\nSELECT true, 1::int2, 1.5::numeric, date '2026-11-20', interval '1 h', path FROM points")
	want = [][]any{{true, int64(1), 1.5, time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), "01:00:00", "edge-1/p"}}
	if diff := cmp.Diff(want, rows); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestSQLThatDoesMoreThanReadIsRefused(t *testing.T) {
	s := open(t, fresh(t))
	appendBlocks(t, s, block("edge-1", 1, 10))
	for _, statement := range []string{
		"DELETE FROM sample", "DROP TABLE sample", "COPY sample TO '/tmp/x'", "SET ROLE postgres", "BEGIN", "", "VACUUM", "DO $$ BEGIN END $$",
		"WITH x AS (DELETE FROM sample RETURNING 1) SELECT * FROM x",
		"EXPLAIN ANALYZE DELETE FROM sample",
		"SELECT 1 INTO stolen",
		"SELECT set_config('transaction_read_only', 'off', true)",
		`SELECT "set_config"('role', 'none', true)`, `SELECT U&"\0073et_config"('role', 'none', true)`,
		"SELECT pg_read_file('/etc/passwd')", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
		"SELECT pg_advisory_lock(1)", "SELECT lo_create(0)", "SELECT query_to_xml('DELETE FROM sample', true, true, '')",
		"SELECT * FROM sample FOR UPDATE",
	} {
		if _, _, err := ask(t.Context(), s, statement); !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: error is %v (%v), want refused or invalid", statement, err, fault.KindOf(err))
		}
	}
	for _, statement := range []string{"SELECT", "SELECT nonsense FROM samples", "SELECT 1; DELETE FROM sample", "SELECT 1/0"} {
		if _, _, err := ask(t.Context(), s, statement); statement != "SELECT" && !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: error is %v (%v), want invalid", statement, err, fault.KindOf(err))
		}
	}
	wantEachOnce(t, s, "edge-1", 1, 10)
}

func TestSQLByAMightyUserIsRefused(t *testing.T) {
	o := fresh(t)
	o.URL = server.URL("postgres", "voltbus")
	_, _, err := ask(t.Context(), open(t, o), "SELECT 1")
	wantError(t, err, fault.Refused, "give store.url a plain user")
}

func TestASlowStatementEndsInTime(t *testing.T) {
	s := open(t, fresh(t))
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	_, _, err := ask(ctx, s, "SELECT count(*) FROM generate_series(1, 1000000000000)")
	wantError(t, err, fault.Timeout, "")
	if _, _, err := ask(t.Context(), s, "SELECT 1"); err != nil {
		t.Errorf("the next statement: %v", err)
	}
}
