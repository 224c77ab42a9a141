package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"voltbus/fault"
	"voltbus/point"
)

// hostile are statements that people sent, or might: each must be refused or be invalid, or, of those that take memory or time,
// end within its bounds. Whoever finds another adds it here.
var hostile = map[string][]string{
	"reads what is not the history": {
		"SELECT pg_read_file('/etc/passwd')", "SELECT pg_read_binary_file('PG_VERSION')", "SELECT * FROM pg_ls_dir('.')", "SELECT pg_stat_file('PG_VERSION')",
		"SELECT * FROM pg_ls_waldir()", "SELECT lo_get(1)", "SELECT loread(1, 2)", "SELECT * FROM pg_authid", "SELECT * FROM pg_shadow", "SELECT * FROM pg_catalog.pg_user",
		"SELECT * FROM pg_stat_activity", "SELECT * FROM pg_settings", "SELECT * FROM pg_stats", "SELECT * FROM information_schema.tables", "SELECT * FROM pg_hba_file_rules",
		"SELECT * FROM sample", "SELECT * FROM writer", "TABLE position", "SELECT * FROM %[1]s.schema_version", "SELECT current_setting('data_directory')", "SHOW data_directory", "SHOW ALL",
		"SELECT pg_get_viewdef('samples'::regclass)", "SELECT query_to_xml('SELECT * FROM pg_authid', true, true, '')", "SELECT table_to_xml('writer', true, true, '')",
		"SELECT database_to_xml(true, true, '')", "SELECT * FROM ts_stat('SELECT rolpassword::tsvector FROM pg_authid')", "SELECT cursor_to_xml('x', 1, true, true, '')",
		"SELECT U&\"pg_read\\005ffile\"('/etc/passwd')", "SELECT \"pg_read_file\"('/etc/passwd')", "SELECT pg_catalog.pg_read_file('/etc/passwd')", "SELECT pg_ls_logdir(), 1",
		"SELECT (SELECT count(*) FROM pg_authid)", "SELECT * FROM samples WHERE EXISTS (SELECT FROM writer)", "WITH x AS (SELECT * FROM writer) SELECT 1", "SELECT * FROM samples, LATERAL pg_ls_dir(point)",
		"SELECT count(*) FILTER (WHERE pg_read_file('x') <> '') FROM samples", "SELECT * FROM samples ORDER BY current_setting('port')", "EXPLAIN SELECT pg_read_file('x')",
		"EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM writer", "SELECT inet_server_addr()", "SELECT pg_postmaster_start_time()", "SELECT has_table_privilege('pg_authid', 'select')",
		"SELECT 1) AS a, (SELECT pg_read_file('x')", "SELECT 1) AS a, LATERAL (SELECT * FROM writer", "SELECT 1) AS a UNION (SELECT relname FROM pg_class", "SELECT xmlparse(document '<a/>')",
		"SELECT * FROM (WITH writer AS (SELECT 1) SELECT 1) x, writer", "SELECT * FROM (WITH pg_authid AS (SELECT 1) SELECT 1) x, pg_authid", "WITH a AS (SELECT * FROM pg_class), pg_class AS (SELECT 1) SELECT * FROM a",
		"SELECT pg_relation_size('sample')", "SELECT version()", "SELECT * FROM dblink('dbname=voltbus', 'SELECT 1') AS t(x int)", "SELECT to_regclass('pg_authid')", "SELECT currval('gap_number_seq')",
	},
	"changes": {
		"DELETE FROM sample", "INSERT INTO point (path) VALUES ('x')", "UPDATE point SET path = ''", "TRUNCATE sample", "DROP VIEW samples", "CREATE TABLE x (y int)", "CREATE TEMP TABLE x (y int)",
		"WITH x AS (DELETE FROM sample RETURNING 1) SELECT * FROM x", "WITH x AS (UPDATE points SET path = 'y' RETURNING 1) SELECT 1", "EXPLAIN ANALYZE DELETE FROM sample", "EXPLAIN (ANALYZE) INSERT INTO point (path) VALUES ('x')",
		"SELECT 1 INTO stolen", "SELECT * INTO TEMP stolen FROM samples", "EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", "EXPLAIN EXECUTE x", "PREPARE x AS SELECT 1", "EXECUTE x", "DECLARE c CURSOR FOR SELECT 1",
		"COPY sample TO '/tmp/x'", "COPY (SELECT 1) TO PROGRAM 'true'", "COPY sample FROM PROGRAM 'true'", "SET ROLE postgres", "SET statement_timeout = 0", "RESET ALL", "SET SESSION AUTHORIZATION postgres", "RESET ROLE",
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "LOCK TABLE sample", "VACUUM", "ANALYZE", "CHECKPOINT", "REINDEX TABLE sample", "DO $$ BEGIN END $$", "CALL x()", "LISTEN x", "NOTIFY x", "LOAD 'x'", "CREATE EXTENSION dblink",
		"ALTER SYSTEM SET fsync = off", "ALTER ROLE voltbus SUPERUSER", "GRANT ALL ON sample TO PUBLIC", "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "DISCARD ALL", "MERGE INTO point USING points ON true WHEN MATCHED THEN DELETE",
		"SELECT set_config('transaction_read_only', 'off', true)", "SELECT set_config('statement_timeout', '0', false)", "SELECT \"set_config\"('role', 'none', true)", "SELECT U&\"\\0073et_config\"('role', 'none', true)",
		"SELECT pg_advisory_lock(1)", "SELECT pg_try_advisory_lock_shared(1)", "SELECT pg_advisory_xact_lock(hashtextextended('%[1]s', 2))", "SELECT pg_terminate_backend(1)", "SELECT pg_cancel_backend(1)", "SELECT pg_sleep(1000)",
		"SELECT pg_sleep_until('2100-01-01')", "SELECT lo_create(0)", "SELECT lo_import('/etc/passwd')", "SELECT lo_export(1, '/tmp/x')", "SELECT nextval('gap_number_seq')", "SELECT setval('gap_number_seq', 1)", "SELECT pg_notify('voltbus_%[1]s', 'x')",
		"SELECT pg_reload_conf()", "SELECT pg_rotate_logfile()", "SELECT pg_switch_wal()", "SELECT pg_create_restore_point('x')", "SELECT pg_stat_reset()", "SELECT txid_current()", "SELECT pg_export_snapshot()",
		"SELECT pg_log_backend_memory_contexts(1)", "SELECT pg_import_system_collations('pg_catalog')", "SELECT brin_summarize_new_values('sample_time')", "SELECT setseed(0.5)", "SELECT pg_logical_emit_message(true, 'x', 'y')",
		"/* /* */ EXPLAIN SELECT 1 -- */ DELETE FROM sample", "-- a\rDELETE FROM sample /*\nEXPLAIN SELECT 1 --*/", "EXPLAIN /* /* */ ANALYZE SELECT 1 -- */ ANALYZE DELETE FROM sample",
		"EXPLAIN -- a\rANALYZE DELETE FROM sample /*\nSELECT 1 --*/", "/* /* */ SELECT 1 -- */ DROP VIEW samples", "EXPLAIN (ANALYZE) /* /* */ SELECT 1 -- */ DELETE FROM sample",
		"SELECT * FROM samples FOR UPDATE", "SELECT * FROM points FOR SHARE", "SELECT 1; SELECT 2", "SELECT 1; DROP VIEW samples", "SELECT * FROM samples TABLESAMPLE system(1)", "SELECT $1", "",
	},
	"takes memory": {
		"SELECT repeat('a', 1000000000)", "SELECT length(repeat(repeat('a', 30000), 30000))", "SELECT lpad('a', 1000000000, 'b')", "SELECT rpad('a', 1000000000)", "SELECT format('%%2000000000s', 'a')", "SELECT array_fill(1, ARRAY[100000000])",
		"SELECT string_agg(x::text, ',') FROM generate_series(1, 1000000000) x", "SELECT array_agg(x) FROM generate_series(1, 1000000000) x", "SELECT json_agg(x) FROM generate_series(1, 1000000000) x", "SELECT xmlagg(xmlelement(name a, x::text)) FROM generate_series(1, 1000000000) x",
		"SELECT ARRAY(SELECT generate_series(1, 1000000000))", "SELECT jsonb_object_agg(x, x) FROM generate_series(1, 1000000000) x", "SELECT range_agg(int4range(x, x + 1)) FROM generate_series(1, 1000000000, 2) x",
		"WITH RECURSIVE t(x) AS (SELECT 'aaaaaaaa' UNION ALL SELECT x || x FROM t) SELECT max(length(x)) FROM t", "WITH RECURSIVE t(x) AS (SELECT 'aaaaaaaa' UNION ALL SELECT concat(x, x) FROM t) SELECT count(*) FROM t",
		"WITH RECURSIVE t(x) AS (SELECT 'aaaa' UNION ALL SELECT replace(x, 'a', 'aa') FROM t) SELECT count(*) FROM t", "SELECT " + strings.Repeat("'a' || ", 50) + "'b'", "SELECT regexp_replace(repeat('a', 100000000), 'a', repeat('b', 1000), 'g')",
		"SELECT x, row_number() OVER (ORDER BY md5(x::text)) FROM generate_series(1, 3000000000) x", "SELECT DISTINCT x FROM generate_series(1, 3000000000) x", "SELECT x, count(*) FROM generate_series(1, 3000000000) x GROUP BY x",
		"SELECT count(DISTINCT x) FROM generate_series(1, 3000000000) x", "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY x) FROM generate_series(1, 3000000000) x", "SELECT mode() WITHIN GROUP (ORDER BY x) FROM generate_series(1, 3000000000) x",
		"SELECT lag(x, 100000000) OVER () FROM generate_series(1, 3000000000) x", "SELECT sum(x) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM generate_series(1, 3000000000) x",
		"WITH x AS MATERIALIZED (SELECT generate_series(1, 3000000000) y) SELECT count(*) FROM x a JOIN x b USING (y)", "SELECT generate_series(1, 3000000000) ORDER BY 1 DESC", "SELECT * FROM " + strings.Repeat("samples, ", 3) + strings.Repeat("samples CROSS JOIN ", 60) + "samples",
		"SELECT regexp_split_to_array(" + strings.Repeat("chr(97) || ", 5) + "chr(98), '')",
	},
	"takes time": {
		"SELECT count(*) FROM generate_series(1, 1000000000) a, generate_series(1, 1000000000) b", "SELECT count(*) FROM generate_series(1, 1000000) a JOIN generate_series(1, 1000000) b ON a * 7 < b * 3",
		"WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT count(*) FROM t", "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x FROM t) SELECT sum(x) FROM t", "SELECT max(sha256(x::text::bytea)) FROM generate_series(1, 100000000000) x",
		"SELECT count(*) FROM samples a, samples b, generate_series(1, 10000000000) c WHERE a.value + b.value + c = -1", "SELECT max(factorial(30000 + (x %% 2))) FROM generate_series(1, 1000000::bigint) x",
		"SELECT count(*) FROM generate_series(1, 1000000) x WHERE '" + strings.Repeat("a", 20000) + "' ~ '(a*)*(a*)*(a*)*b\\1'", "SELECT '" + strings.Repeat("ab", 10000) + "' ~ '^(.*)*\\1\\1\\1(.*)*\\2x$'",
		"SELECT count(*) FROM generate_series(1, 100000) x WHERE '" + strings.Repeat("a", 20000) + "' LIKE '" + strings.Repeat("%%a", 20) + "b'", "SELECT max(exp(5000.0::numeric + x)) FROM generate_series(1, 1000000) x",
		"SELECT max(power(1.0000000001::numeric, 1e9::numeric + x)) FROM generate_series(1, 1000000) x", "SELECT max(sqrt((2::numeric ^ 100000) + x)) FROM generate_series(1, 1000000) x", "SELECT max(gcd((3::numeric ^ 60000), (2::numeric ^ 90000) + x)) FROM generate_series(1, 1000000) x",
		"SELECT * FROM generate_series(1, 3000000000) a", "EXPLAIN ANALYZE SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b",
	},
	"breaks the parser": {
		"SELECT " + strings.Repeat("(", 15000) + "1" + strings.Repeat(")", 15000), "SELECT 1" + strings.Repeat("+1", 16000), "SELECT " + strings.Repeat("CASE WHEN true THEN ", 1000) + "1" + strings.Repeat(" END", 1000),
		"SELECT * FROM " + strings.Repeat("(SELECT * FROM ", 1000) + "samples" + strings.Repeat(") x", 1000), "SELECT 'x\x00y'", "SELECT \xff\xfe", "SELECT " + strings.Repeat("x", 1<<20), "/*", "--", "(", "SELECT 'a", "EXPLAIN", "EXPLAIN ANALYZE", ";", ";;",
		"SELECT 1 /*", "SELECT 1 --", "SELECT 1)", "EXPLAIN EXPLAIN SELECT 1", "SELECT \"" + strings.Repeat("{FUNCEXPR :funcid 1 ", 3) + "\"", "SELECT '" + strings.Repeat("(", 20000) + "'::tsquery", "SELECT '" + strings.Repeat("[", 20000) + "'::json",
	},
}

func TestAttackNoStatementHarmsTheServer(t *testing.T) {
	o := fresh(t)
	asSuperuser(t, "voltbus", "ALTER ROLE voltbus SET temp_file_limit = '64MB'")
	t.Cleanup(func() { asSuperuser(t, "voltbus", "ALTER ROLE voltbus RESET temp_file_limit") })
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 10))
	n := 0
	for what, statements := range hostile {
		bounded := what == "takes memory" || what == "takes time"
		for _, form := range statements {
			n++
			text := strings.ReplaceAll(strings.ReplaceAll(form, "%[1]s", o.Schema), "%%", "%")
			limit := time.Minute
			if bounded {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			rows := 0
			err := s.SQL(ctx, text, func([]string) error { return nil }, func([]any) error { rows++; return nil })
			cancel()
			ended := fault.Is(err, fault.Refused) || fault.Is(err, fault.Invalid)
			if bounded {
				ended = ended || err == nil || fault.Is(err, fault.Timeout) || fault.Is(err, fault.Unavailable)
			}
			if what != "breaks the parser" && !ended || fault.Is(err, fault.Internal) {
				t.Errorf("%s: %.100q gives %d rows and %v (%v)", what, text, rows, err, fault.KindOf(err))
			}
		}
	}
	if n < 60 {
		t.Errorf("only %d statements attack", n)
	}
	wantNoStatements(t)
	wantEachOnce(t, s, "edge-1", 1, 10)
	if _, rows, err := ask(t.Context(), s, "SELECT count(*) FROM samples"); err != nil || rows[0][0] != int64(10) {
		t.Errorf("a plain question gives %v, %v", rows, err)
	}
}

// wantNoStatements waits until the server carries out no statement of a person any more, and fails after a minute.
func wantNoStatements(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.URL("postgres", "voltbus"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var left string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		err := conn.QueryRow(t.Context(), "SELECT coalesce(max(left(query, 200)), '') FROM pg_stat_activity WHERE application_name LIKE 'voltbus % statement'").Scan(&left)
		if err != nil {
			t.Fatal(err)
		}
		if left == "" {
			return
		}
	}
	t.Errorf("the server still carries out %s", left)
}

func TestAStatementWhoseTimeIsOverBeforeItIsConnectedIsNotTheServersFault(t *testing.T) {
	s := open(t, fresh(t))
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	err := s.SQL(ctx, "SELECT 1", func([]string) error { return nil }, func([]any) error { return nil })
	if !fault.Is(err, fault.Timeout) {
		t.Errorf("gives %v (%v)", err, fault.KindOf(err))
	}
}

func TestAttackAStatementEndsAtTheServerWhenNobodyWaits(t *testing.T) {
	s := open(t, fresh(t))
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := ask(ctx, s, "SELECT 1 FROM points")
	if err != nil {
		t.Fatal(err)
	}
	err = s.SQL(ctx, "SELECT a, b FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
		func([]string) error { return nil }, func([]any) error { cancel(); return nil })
	if !fault.Is(err, fault.Canceled) {
		t.Errorf("the statement ended with %v, want canceled", err)
	}
	wantNoStatements(t)
}

func TestAttackAnAnswerOfPostgreSQLIsBounded(t *testing.T) {
	s := open(t, fresh(t))
	b := block("edge-1", 1, 0)
	b.Append(0, &point.Sample{Time: noon(), Value: point.TextOf(strings.Repeat("x", 3<<20))})
	appendBlocks(t, s, b)
	if _, rows, err := ask(t.Context(), s, "SELECT text, text FROM samples"); err != nil || len(rows) != 1 {
		t.Errorf("a row of 6 MiB gives %d rows, %v", len(rows), err)
	}
	for text, words := range map[string]string{
		"SELECT text, text, text FROM samples":                    "a row of more than",
		"SELECT text || text || text FROM samples":                "a row of more than",
		"SELECT " + strings.Repeat("1,", 5000) + "1":              "",
		"SELECT " + strings.Repeat("1,", 5000) + "1 FROM samples": "",
	} {
		if _, _, err := ask(t.Context(), s, text); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), words) {
			t.Errorf("%.60q gives %v, want invalid with %q", text, err, words)
		}
	}
}

func TestAttackAStatementHasTheRightsOfItsRoleAlone(t *testing.T) {
	o := fresh(t)
	role := o.SQLRole()
	asSuperuser(t, "voltbus", "CREATE ROLE maker LOGIN CREATEROLE IN ROLE voltbus", "CREATE SCHEMA "+o.Schema+" AUTHORIZATION maker")
	o.URL = server.URL("maker", "voltbus")
	s := open(t, o)
	appendBlocks(t, s, block("edge-1", 1, 10))
	if _, rows, err := ask(t.Context(), s, "SELECT current_user, count(*) FROM samples"); err != nil || fmt.Sprint(rows) != fmt.Sprintf("[[%s 10]]", role) {
		t.Errorf("a statement gives %v, %v; want 10 samples read by %s", rows, err, role)
	}
	conn, err := pgx.Connect(t.Context(), server.URL("maker", "voltbus"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), "SET ROLE "+role+"; SET search_path = "+o.Schema); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"SELECT * FROM sample", "SELECT * FROM writer", "DELETE FROM point", "UPDATE samples SET value = 1", "CREATE TABLE x (y int)", "CREATE ROLE thief", "SELECT pg_read_file('/etc/passwd')",
		"COPY samples TO '/tmp/x'", "SELECT lo_import('/etc/passwd')", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres'", "SELECT pg_ls_dir('.')", "SELECT rolpassword FROM pg_authid",
	} {
		if _, err := conn.Exec(t.Context(), text); err == nil {
			t.Errorf("the role may %q", text)
		}
	}
}

func TestWhereTheRoleCannotBeMadeTheLogSaysWhichCommandsMakeIt(t *testing.T) {
	o := fresh(t)
	var log bytes.Buffer
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s := open(t, o)
	for _, words := range []string{"CREATE ROLE " + o.SQLRole(), "GRANT " + o.SQLRole() + " TO voltbus", "temp_file_limit"} {
		if !strings.Contains(log.String(), words) {
			t.Errorf("the log does not hold %q:\n%s", words, &log)
		}
	}
	asSuperuser(t, "voltbus", "CREATE ROLE "+o.SQLRole(), "GRANT USAGE ON SCHEMA "+o.Schema+" TO "+o.SQLRole(),
		"GRANT SELECT ON "+o.Schema+".samples, "+o.Schema+".points TO "+o.SQLRole(), "GRANT "+o.SQLRole()+" TO voltbus")
	if _, rows, err := ask(t.Context(), s, "SELECT current_user"); err != nil || rows[0][0] != o.SQLRole() {
		t.Errorf("after the commands a statement is run by %v, %v", rows, err)
	}
}
