package duckdb_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// noon is when the samples of most tests begin.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// block makes a block of the origin "a" with the samples "p" of one second each from start on,
// whose values count from the sequence.
func block(sequence uint64, start time.Time, n int) *point.Block {
	b := &point.Block{Origin: "a", Sequence: sequence, Before: (sequence - 1) * uint64(n), Points: []point.Path{"p"}}
	for i := range n {
		b.Append(0, &point.Sample{Time: start.Add(time.Duration(i) * time.Second), Value: point.FloatOf(float64(int(sequence) + i))})
	}
	return b
}

func appendBlocks(tb testing.TB, s store.Store, blocks ...*point.Block) {
	tb.Helper()
	if _, err := s.Append(tb.Context(), blocks); err != nil {
		tb.Fatalf("append: %v", err)
	}
}

func maintain(tb testing.TB, s store.Store, now time.Time) {
	tb.Helper()
	if err := s.Maintain(tb.Context(), now); err != nil {
		tb.Fatalf("maintain: %v", err)
	}
}

// stored returns the values of "p".
func stored(tb testing.TB, s store.Store) []float64 {
	tb.Helper()
	var out []float64
	r := store.Range{Points: []point.Path{"p"}, From: noon().AddDate(-1, 0, 0), To: noon().AddDate(1, 0, 0)}
	err := s.Read(tb.Context(), r, func(run []point.Sample) error {
		for _, sample := range run {
			v, _ := sample.Value.Number()
			out = append(out, v)
		}
		return nil
	})
	if err != nil {
		tb.Fatalf("read: %v", err)
	}
	return out
}

func stats(tb testing.TB, s store.Store) store.Stats {
	tb.Helper()
	out, err := s.Stats(tb.Context())
	if err != nil {
		tb.Fatalf("stats: %v", err)
	}
	return out
}

// table is an answer in SQL.
type table struct {
	columns []string
	rows    [][]any
}

func ask(ctx context.Context, s store.SQL, statement string) (table, error) {
	var t table
	err := s.SQL(ctx, statement, func(c []string) error { t.columns = c; return nil }, func(r []any) error {
		t.rows = append(t.rows, append([]any(nil), r...))
		return nil
	})
	return t, err
}

// sqlStore has a closed day, an open day, and a sample that was replaced.
func sqlStore(t *testing.T) *duckdb.Store {
	s := open(t, duckdb.Options{Dir: t.TempDir()})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	appendBlocks(t, s, block(1, noon().AddDate(0, 0, -3), 3))
	maintain(t, s, noon())
	appendBlocks(t, s, block(2, noon(), 3), block(3, noon().Add(2*time.Second), 3))
	return s
}

func TestSQLAnswers(t *testing.T) {
	s := sqlStore(t)
	tests := map[string]struct {
		statement string
		want      table
	}{
		"all days, and of equal times the sample stored last": {
			"SELECT count(*) AS n, sum(value) FROM samples WHERE point = 'p'",
			table{[]string{"n", "sum(\"value\")"}, [][]any{{int64(8), 23.0}}},
		},
		"the columns of a sample": {
			"SELECT * FROM samples ORDER BY time DESC LIMIT 1;",
			table{
				[]string{"point", "time", "value", "exact", "text", "kind", "quality"},
				[][]any{{"p", noon().Add(4 * time.Second), 5.0, nil, nil, "float", int64(0)}},
			},
		},
		"other types as text": {
			"WITH a AS (SELECT DATE '2026-11-20' AS d, 12.50::DECIMAL(9,2) AS m, [1,2] AS l, true AS b) SELECT d, m, l, b, d FROM a",
			table{[]string{"d", "m", "l", "b", "d"}, [][]any{{"2026-11-20", "12.50", "[1, 2]", true, "2026-11-20"}}},
		},
		"the points": {"SELECT path FROM points", table{[]string{"path"}, [][]any{{"p"}}}},
		"nothing":    {"SELECT value FROM samples WHERE false", table{[]string{"value"}, nil}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t.Context(), s, tt.statement)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(table{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	for _, statement := range []string{
		"DESCRIBE samples", "SHOW TABLES", "SUMMARIZE samples", "EXPLAIN SELECT * FROM samples", " explain\n analyze\r\nSELECT * FROM samples;", "EXPLAIN (SELECT 1)",
		"EXPLAIN SELECT 1 -- a comment behind", "-- a question\n/* of /* two */ comments */ SELECT 1", "WITH samples AS (SELECT 1) SELECT * FROM samples",
		"WITH a AS (SELECT * FROM samples), b AS (SELECT * FROM a) SELECT * FROM b, (SELECT * FROM a) c", "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 3) SELECT * FROM t",
		"WITH a AS (WITH b AS (SELECT 1 AS x) SELECT * FROM b) SELECT (SELECT max(x) FROM a) UNION SELECT x FROM A", "DESCRIBE SELECT DATE '2026-11-20' AS \"a) --\"", "SELECT DATE '2026-11-20' AS \"a) --\" -- ;",
		"FROM samples WHERE point IN (WITH a AS (SELECT path FROM points) SELECT path FROM a)", "TABLE points",
	} {
		if got, err := ask(t.Context(), s, statement); err != nil || len(got.rows) == 0 {
			t.Errorf("%s: %d rows, error %v", statement, len(got.rows), err)
		}
	}
}

func TestSQLRefusesWhatIsNotReading(t *testing.T) {
	s := sqlStore(t)
	secret := filepath.Join(t.TempDir(), "secret.csv")
	if err := os.WriteFile(secret, []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "out.csv")
	for _, statement := range []string{
		"SELECT * FROM read_csv('" + secret + "')", "SELECT * FROM '" + secret + "'",
		"SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM glob('/etc/*')",
		"SELECT * FROM read_parquet('https://127.0.0.1:1/x.parquet')", "SELECT * FROM read_csv('http://127.0.0.1:1/x')",
		"ATTACH '" + out + "' AS other", "COPY points TO '" + out + "'", "COPY (SELECT 1) TO '" + out + "'",
		"EXPORT DATABASE '" + filepath.Dir(out) + "'", "INSTALL httpfs", "LOAD httpfs", "PRAGMA database_list", "SET threads=9",
		"SET enable_external_access=true", "RESET ALL", "DROP TABLE points", "DELETE FROM positions", "INSERT INTO points VALUES (9, 'x')",
		"CREATE TABLE x AS SELECT 1", "CREATE TEMP TABLE x AS SELECT 1", "UPDATE counters SET replaced = 1", "BEGIN", "CHECKPOINT",
		"FORCE CHECKPOINT", "VACUUM", "CALL force_checkpoint()", "SELECT 1; DROP TABLE points", "SELECT 1; SELECT 2",
		"EXPLAIN ANALYZE DELETE FROM points", "EXPLAIN ANALYZE COPY (SELECT 1) TO '" + out + "'", "SELECT * FROM force_checkpoint()",
		"WITH x AS (SELECT 1) INSERT INTO points SELECT 9, 'x' FROM x", "PREPARE p AS SELECT 1", "USE memory", "",
	} {
		_, err := ask(t.Context(), s, statement)
		if !fault.Is(err, fault.Refused) {
			t.Errorf("%q: error is %v (%v), want refused", statement, err, fault.KindOf(err))
		}
	}
	if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused statement wrote a file: %v", err)
	}
	if got := stored(t, s); len(got) != 8 {
		t.Errorf("%d samples are left, want 8", len(got))
	}
	got, err := ask(t.Context(), s, "SELECT path FROM points")
	if err != nil || len(got.rows) != 1 {
		t.Errorf("points are %v, %v", got.rows, err)
	}
}

func TestSQLMistakesAreInvalid(t *testing.T) {
	s := sqlStore(t)
	for _, statement := range []string{"SELEKT 1", "SELECT nothing FROM samples", "SELECT * FROM nowhere", "SELECT 'x'::INTEGER"} {
		if _, err := ask(t.Context(), s, statement); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: error is %v (%v), want invalid", statement, err, fault.KindOf(err))
		}
	}
}

func TestSQLEndsWithItsContext(t *testing.T) {
	s := sqlStore(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := ask(ctx, s, "SELECT count(*) FROM range(100000000) a, range(1000000) b WHERE a.range % 7 = b.range % 11")
	if !fault.Is(err, fault.Timeout) {
		t.Errorf("error is %v (%v), want a timeout", err, fault.KindOf(err))
	}
	if got := stored(t, s); len(got) != 8 {
		t.Errorf("%d samples are left, want 8", len(got))
	}
}

func TestSQLReturnsTheErrorOfItsReader(t *testing.T) {
	s := sqlStore(t)
	enough := errors.New("enough rows")
	err := s.SQL(t.Context(), "SELECT * FROM samples", func([]string) error { return nil }, func([]any) error { return enough })
	if !errors.Is(err, enough) {
		t.Errorf("error is %v, want the reader's", err)
	}
}

func TestExportWritesAFileThatSQLToolsRead(t *testing.T) {
	s := sqlStore(t)
	file := filepath.Join(t.TempDir(), "it's an export.parquet")
	r := store.Range{Points: []point.Path{"p", "o'ther"}, From: noon(), To: noon().Add(3 * time.Second)}
	n, err := s.ExportParquet(t.Context(), r, file)
	if err != nil {
		t.Fatal(err)
	}
	if n != 3 {
		t.Errorf("%d samples were exported, want 3", n)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(data), "PAR1") {
		t.Errorf("the export is not a Parquet file: %v", err)
	}
	r.Limit = 1
	if _, err := s.ExportParquet(t.Context(), r, file); !fault.Is(err, fault.Invalid) {
		t.Errorf("error is %v, want invalid for a limit", err)
	}
	r.Limit = 0
	if _, err := s.ExportParquet(t.Context(), r, filepath.Join(file, "below a file")); !fault.Is(err, fault.Invalid) {
		t.Errorf("error is %v, want invalid for a place that cannot be written", err)
	}
}
