package duckdb_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/store/duckdb"
)

// hostile are statements that people sent, or might: each must be refused, be invalid, or end within its bounds.
// Whoever finds another adds it here.
var hostile = map[string][]string{
	"writes files": {
		"CALL enable_logging(storage='file', storage_path='%s/log')", "SELECT * FROM enable_logging(storage='file', storage_path='%s/log')",
		"SELECT * FROM enable_logging('QueryLog', storage='file')", "CALL enable_profiling(save_location='%s/p.json')", "SELECT * FROM enable_profiling()",
		"SELECT * FROM enable_profiling(format='json', save_location='%s/p.json')", "PRAGMA enable_profiling", "SET profiling_output='%s/p.json'",
		"SET log_query_path='%s/q.log'", "COPY (SELECT 1) TO '%s/x'", "COPY samples TO '%s/x.parquet'", "EXPORT DATABASE '%s/db'", "ATTACH '%s/a.db'",
		"ATTACH '%s/a.db' AS a (TYPE sqlite)", "EXPLAIN ANALYZE COPY (SELECT 1) TO '%s/x'", "SELECT write_log('x')", "SELECT * FROM truncate_duckdb_logs()",
		"INSTALL httpfs", "LOAD '%s/x.so'", "FORCE INSTALL x FROM '%s'", "CREATE SECRET s (TYPE s3)", "CREATE PERSISTENT SECRET s (TYPE s3)",
		"PREPARE x AS COPY (SELECT 1) TO '%s/x'", "EXECUTE x", "SET temp_directory='%s'", "SET secret_directory='%s'", "SET extension_directory='%s'",
	},
	"reads files": {
		"SELECT * FROM read_csv('/etc/passwd')", "SELECT * FROM read_text('/etc/passwd')", "SELECT * FROM read_blob('/etc/passwd')", "SELECT * FROM '/etc/passwd'",
		"SELECT * FROM read_json('/proc/self/environ')", "SELECT * FROM read_parquet('/etc/passwd')", "SELECT * FROM glob('/**')", "SELECT * FROM sniff_csv('/etc/passwd')",
		"SELECT * FROM parquet_metadata('%s/../days/*')", "SELECT * FROM parquet_schema('x')", "SELECT * FROM read_duckdb('%s/x')", "FROM '%s/history.duckdb'",
		"SELECT * FROM query('SELECT 1')", "SELECT * FROM query_table('/etc/passwd')", "SELECT getenv('HOME')", "SELECT getvariable('x')",
		"SELECT current_setting('temp_directory')", "SELECT * FROM duckdb_settings()", "SELECT * FROM duckdb_secrets()", "SELECT * FROM pragma_database_list()",
		"SELECT * FROM duckdb_temporary_files()", "SELECT * FROM duckdb_logs()", "SELECT * FROM json_execute_serialized_sql('{}')",
		"WITH \"/etc/passwd\" AS (SELECT 1) SELECT * FROM (SELECT * FROM read_text('/etc/passwd'))", "SELECT (SELECT content FROM read_text('/etc/passwd'))",
		"DESCRIBE SELECT * FROM '/etc/passwd'", "SUMMARIZE '/etc/passwd'", "SELECT * FROM samples, LATERAL (SELECT * FROM read_text(point))",
		"SELECT * FROM information_schema.tables", "SELECT * FROM main.sqlite_master", "SELECT * FROM temp.x", "SHOW DATABASES", "SHOW ALL TABLES",
		"SELECT * FROM 'http://127.0.0.1:1/x.parquet'", "SELECT * FROM read_csv('s3://a/b')", "SELECT * FROM parquet_scan('/etc/passwd')",
		"SELECT [x FOR x IN (SELECT content FROM read_text('/etc/passwd'))]", "SELECT * FROM (VALUES ((SELECT getenv('PATH'))))", "EXPLAIN SELECT getenv('PATH')",
		"SELECT count(*) FILTER (WHERE getenv('PATH') <> '') FROM samples", "SELECT * FROM samples ORDER BY getenv('PATH')", "PIVOT '/etc/passwd' ON x",
	},
	"changes": {
		"SET memory_limit='100GB'", "SET threads=1000", "RESET ALL", "PRAGMA memory_limit='100GB'", "SET GLOBAL enable_external_access=true", "USE main",
		"CREATE TABLE x AS SELECT 1", "CREATE MACRO f(x) AS x", "DROP VIEW samples", "DELETE FROM points", "UPDATE points SET path = ''", "CHECKPOINT",
		"SELECT nextval('x')", "BEGIN", "VACUUM", "ANALYZE", "DETACH x", "SELECT 1; SELECT 2", "SELECT 1; DROP VIEW samples", "COMMENT ON VIEW samples IS 'x'",
		"INSERT INTO points VALUES (1, 'x')", "TRUNCATE points", "ALTER VIEW samples RENAME TO x", "SET VARIABLE x = 1", "DEALLOCATE x", "IMPORT DATABASE '%s'",
	},
	"hides behind comments": {
		"EXPLAIN /* /* */ ANALYZE SELECT 1 -- */ ANALYZE SELECT count(*) FROM duckdb_settings()", "EXPLAIN -- a\rANALYZE COPY (SELECT 1) TO '%s/x' /*\nSELECT 1 --*/",
		"-- a\rSELECT * FROM duckdb_settings() /*\nEXPLAIN SELECT 1 --*/", "-- a\rCOPY (SELECT 1) TO '%s/x' /*\nEXPLAIN SELECT 1 --*/", "/**/EXPLAIN SELECT 1",
		"EXPLAIN ANALYZE /**/ SELECT 1", "\u00a0EXPLAIN SELECT 1", "(EXPLAIN SELECT 1)", "EXPLAIN SELECT 1; SELECT 2", "EXPLAIN (ANALYZE) COPY (SELECT 1) TO '%s/x'",
		"EXPLAIN\vANALYZE SELECT * FROM duckdb_settings()", "SELECT 1 AS \"a) --\", DATE '2026-01-01' AS \"\"\" /*\" FROM duckdb_settings()", "EXPLAIN ANALYZE (SELECT 1); COPY (SELECT 1) TO '%s/x'",
	},
	"names what it may not read": {
		"SELECT * FROM (WITH sqlite_master AS (SELECT 1) SELECT 1), sqlite_master LIMIT 1", "WITH sqlite_master AS (SELECT 1) SELECT 1", "WITH a AS (SELECT * FROM b), b AS (SELECT 1) SELECT * FROM a",
		"SELECT * FROM (WITH \"%s/admin.token.csv\" AS (SELECT 1) SELECT 1), \"%s/admin.token.csv\"", "WITH a AS (SELECT * FROM sqlite_master), sqlite_master AS (SELECT 1) SELECT * FROM a",
		"WITH DUCKDB_VIEWS AS (SELECT * FROM duckdb_views) SELECT * FROM duckdb_views", "SELECT (WITH pg_views AS (SELECT 1) SELECT 1), * FROM pg_views", "SELECT 1 FROM (WITH x AS (SELECT 1) SELECT 1), x",
		"WITH \"a.csv\" AS (SELECT 1) SELECT * FROM \"a.csv\"", "SHOW TABLES FROM system.main", "DESCRIBE sqlite_master", "SELECT * FROM \"\"\"samples\"\"\"", "(WITH x AS (SELECT 1) SELECT * FROM x) UNION SELECT * FROM x",
	},
	"takes memory": {
		"SELECT unnest(generate_series(1, 1000000000))", "SELECT lpad('a', 2000000000, 'b')", "SELECT length(lpad('a', 2000000000, 'b'))",
		"SELECT bitstring('1', 2000000000)", "SELECT list_transform(range(100000000), x -> x * 2)", "SELECT [x * 2 FOR x IN range(100000000)]",
		"SELECT list(x) FROM range(1000000000) t(x)", "SELECT string_agg(x::VARCHAR, ',') FROM range(1000000000) t(x)", "SELECT repeat('a', 2000000000)",
		"SELECT repeat(repeat('a', 100000), 100000)", "SELECT histogram(x) FROM range(1000000000) t(x)", "SELECT to_json(range(100000000))",
		"SELECT x, row_number() OVER (ORDER BY hash(x)) FROM range(3000000000) t(x) LIMIT 1", "SELECT DISTINCT x FROM range(3000000000) t(x)",
		"SELECT regexp_replace(repeat('a', 100000000), 'a', repeat('b', 1000), 'g')", "SELECT array_agg(s) FROM (SELECT repeat('x', 1000000) s FROM range(10000))",
		"SELECT flatten(list_transform(range(10000), x -> range(100000)))", "SELECT rpad('', 1500000000, 'xy')", "SELECT printf('%%2000000000d', 1)",
		"WITH RECURSIVE t(x) AS (SELECT repeat('a', 1000) UNION ALL SELECT x || x FROM t) SELECT max(length(x)) FROM t", "SELECT format('{:2000000000}', 1)",
	},
	"takes time": {
		"SELECT levenshtein(repeat('a', 200000), repeat('b', 200000))", "SELECT damerau_levenshtein(repeat('a', 20000), repeat('b', 20000))",
		"SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range % 7 = b.range % 11",
		"WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t", "SELECT max(sha256(x::VARCHAR)) FROM range(100000000000) t(x)",
		"SELECT count(*) FROM samples a, samples b, range(10000000000) c WHERE a.value + b.value + c.range = -1",
		"SELECT regexp_matches(repeat('a', 1000000), '(a*)*(a*)*(a*)*b')", "SELECT jaccard(repeat('ab', 50000000), repeat('ba', 50000000))",
		"SELECT list_reduce(range(100000000), (a, b) -> (a * b) % 1000003)", "SELECT sum(jaro_winkler_similarity(x::VARCHAR, (x+1)::VARCHAR)) FROM range(100000000000) t(x)",
	},
	"breaks the parser": {
		strings.Repeat("(", 20000) + "SELECT 1" + strings.Repeat(")", 20000), "SELECT " + strings.Repeat("-", 3) + strings.Repeat("(1+", 20000) + "1" + strings.Repeat(")", 20000),
		"SELECT " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "SELECT 1" + strings.Repeat("+1", 50000), "SELECT 'x\x00y'", "SELECT \xff\xfe",
		"SELECT " + strings.Repeat("CASE WHEN true THEN ", 5000) + "1" + strings.Repeat(" END", 5000), "SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 3000) + "samples" + strings.Repeat(")", 3000),
		"/*", "--", "(", "SELECT 'a", "EXPLAIN", "EXPLAIN ANALYZE", "EXPLAIN EXPLAIN SELECT 1", ";", ";;", "SELECT $1", "SELECT ?", "DESCRIBE", "SHOW", "FROM",
	},
}

func TestAttackNoStatementHarmsTheStore(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	s := open(t, duckdb.Options{Dir: dir, MemoryLimit: 128 << 20})
	t.Cleanup(func() { _ = s.Close() })
	appendBlocks(t, s, block(1, noon().AddDate(0, 0, -3), 3))
	maintain(t, s, noon())
	appendBlocks(t, s, block(2, noon(), 3))
	for what, statements := range hostile {
		for _, form := range statements {
			text := strings.ReplaceAll(form, "%s", outside)
			limit := 20 * time.Second
			if what == "takes time" || what == "takes memory" {
				limit = 2 * time.Second
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			began, rows := time.Now(), 0
			err := s.SQL(ctx, text, func([]string) error { return nil }, func([]any) error { rows++; return nil })
			cancel()
			name := text[:min(len(text), 80)]
			switch what {
			default:
				if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
					t.Errorf("%s: %q gives %d rows and %v (%v), want refused", what, name, rows, err, fault.KindOf(err))
				}
			case "breaks the parser":
			case "takes time", "takes memory":
				if took := time.Since(began); took > limit+30*time.Second {
					t.Errorf("%q took %v", name, took)
				}
				if err != nil && !fault.Is(err, fault.Timeout) && !fault.Is(err, fault.Unavailable) && !fault.Is(err, fault.Invalid) {
					t.Errorf("%q gives %v (%v)", name, err, fault.KindOf(err))
				}
			}
		}
	}
	left, err := os.ReadDir(outside)
	if err != nil || len(left) > 0 {
		t.Errorf("statements wrote %v, %v", left, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "tmp", "sql-*")); len(left) > 0 {
		t.Errorf("statements left %v", left)
	}
	appendBlocks(t, s, block(3, noon().Add(3*time.Second), 3))
	if got := stored(t, s); len(got) != 9 {
		t.Errorf("the history has %d samples afterwards, want 9", len(got))
	}
	got, err := ask(t.Context(), s, "SELECT count(*) FROM samples")
	if err != nil || got.rows[0][0] != int64(9) {
		t.Errorf("a plain question gives %v, %v", got.rows, err)
	}
}

func TestAttackNoCommentHidesAStatement(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	s := open(t, duckdb.Options{Dir: dir})
	t.Cleanup(func() { _ = s.Close() })
	appendBlocks(t, s, block(1, noon().AddDate(0, 0, -3), 3))
	maintain(t, s, noon())
	for _, hidden := range []string{
		"PRAGMA version", "CALL enable_logging(storage='file', storage_path='" + outside + "/log')", "CALL enable_profiling()", "CREATE TABLE x AS SELECT 1",
		"SELECT * FROM read_text('" + dir + "/days/*')", "SELECT * FROM glob('" + dir + "/**')", "SELECT * FROM duckdb_settings()", "COPY (SELECT 1) TO '" + outside + "/x'",
		"COPY (SELECT repeat('x', 1000) FROM range(1000000)) TO (current_setting('temp_directory')||'/d') (FORMAT csv, FILE_SIZE_BYTES '100MB')",
	} {
		for _, text := range []string{
			"/* /* */ EXPLAIN SELECT 1 -- */ " + hidden, "/* /* */ SELECT 1 -- */ " + hidden, "EXPLAIN /* /* */ SELECT 1 -- */ " + hidden,
			"-- a\r" + hidden + " /*\nEXPLAIN SELECT 1 --*/", "EXPLAIN -- a\r" + hidden + " /*\nSELECT 1 --*/", "EXPLAIN ANALYZE " + hidden,
		} {
			got, err := ask(t.Context(), s, text)
			if !fault.Is(err, fault.Refused) && !fault.Is(err, fault.Invalid) {
				t.Errorf("%q gives %v and %v, want refused", text, got.rows, err)
			}
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("statements wrote %v, %v", left, err)
	}
}

func TestAttackAStatementEndsWhenNobodyWaits(t *testing.T) {
	s := sqlStore(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- s.SQL(ctx, "SELECT levenshtein(repeat('a', 1000000 + (random() * 0)::INTEGER), repeat('b', 1000000))", func([]string) error { cancel(); return nil }, func([]any) error { return nil })
	}()
	if err := <-done; !fault.Is(err, fault.Canceled) {
		t.Errorf("the statement ended with %v, want canceled", err)
	}
}

func TestAttackAStatementCannotAnswerWithoutEnd(t *testing.T) {
	s := sqlStore(t)
	for text, words := range map[string]string{
		"SELECT repeat('x', 20000000)":                              "a row of more than",
		"SELECT " + strings.Repeat("1,", 5000) + "1":                "5001 columns",
		"SELECT repeat('x', 6000000), repeat('y', 6000000), 'more'": "a row of more than",
	} {
		if _, err := ask(t.Context(), s, text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60q gives %v, want invalid with %q", text, err, words)
		}
	}
}
