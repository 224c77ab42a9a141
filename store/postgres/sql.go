package postgres

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"voltbus/fault"
)

// longestSQL is how long a statement may run whose caller sets no bound.
const longestSQL = time.Minute

var (
	errNotRead   = errors.New("only one statement that reads is answered: SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN")
	errSuperuser = errors.New("the store's user has rights beyond its own tables, so that a statement could read files of the server or reach others; give store.url a plain user that owns the database, then ask again")
)

var (
	reading = regexp.MustCompile(`(?is)^(\s|\(|--[^\n]*\n|/\*.*?\*/)*(SELECT|WITH|VALUES|TABLE|SHOW|EXPLAIN)\b`)

	// beyond are functions that have an effect which no transaction takes back, that reach out of the database, or that run text
	// as a statement. U& could hide a name.
	beyond = regexp.MustCompile(`(?i)u&|\b(pg_(terminate|cancel|advisory|try_advisory|read_|ls_|stat_file|stat_reset|notify|sleep|reload|rotate|switch|promote|create_|drop_|replication|logical|log_|backup|wal_|import|export)\w*|set_config|dblink\w*|lo_\w+|loread|lowrite|\w*_to_xml\w*|nextval|setval|postgres_fdw\w*|_timescaledb_\w*)\b`)
)

// SQL implements store.SQL. The statement sees the views samples(point, time, value, exact, text, kind,
// quality) and points(id, path). It runs in a transaction that can only read and has a time-out, by a user
// without rights beyond the database.
func (s *Store) SQL(ctx context.Context, statement string, columns func([]string) error, row func([]any) error) error {
	const op = "postgres.SQL"
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	if !reading.MatchString(statement) {
		return fault.E(op, fault.Refused, "", errNotRead)
	}
	if name := beyond.FindString(statement); name != "" {
		return fault.E(op, fault.Refused, name, errors.New("may not be used: it reaches beyond the history"))
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return s.fail(op, err)
	}
	defer conn.Release()
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return s.fail(op, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // there is nothing to lose
	if err := s.bound(ctx, tx); err != nil {
		return s.fail(op, err)
	}
	return s.failSQL(ctx, op, answer(ctx, tx, statement, columns, row))
}

// bound sets the time-out and checks that the user can do nothing else.
func (s *Store) bound(ctx context.Context, tx pgx.Tx) error {
	limit := longestSQL
	if end, ok := ctx.Deadline(); ok {
		limit = min(limit, max(time.Millisecond, time.Until(end)))
	}
	for _, setting := range []string{"statement_timeout = " + strconv.FormatInt(limit.Milliseconds()+1, 10), "max_parallel_workers_per_gather = 2"} {
		if _, err := tx.Exec(ctx, "SET LOCAL "+setting); err != nil {
			return err
		}
	}
	var mighty bool
	err := tx.QueryRow(ctx, `SELECT rolsuper OR rolreplication OR EXISTS (SELECT FROM pg_roles r
		WHERE r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_read_all_data') AND pg_has_role(r.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = session_user`).Scan(&mighty)
	if err == nil && mighty {
		err = fault.E("postgres.SQL", fault.Refused, "", errSuperuser)
	}
	return err
}

// failSQL tells a mistake in the statement from trouble of the store.
func (s *Store) failSQL(ctx context.Context, op string, err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.E(op, fault.KindOf(ctx.Err()), "", err)
	case !ok:
		if own, ok := errors.AsType[*callerError](err); ok {
			return own.err
		}
		return s.fail(op, err)
	case e.Code == "57014":
		return fault.E(op, fault.Timeout, "", fmt.Errorf("the statement took too long; ask for less: %w", err))
	case e.Code == "25006", e.Code == "42501", e.Code == "0A000":
		return fault.E(op, fault.Refused, "", err)
	case strings.HasPrefix(e.Code, "42"), strings.HasPrefix(e.Code, "22"), strings.HasPrefix(e.Code, "2"), strings.HasPrefix(e.Code, "54"):
		return fault.E(op, fault.Invalid, "", err)
	}
	return s.fail(op, err)
}

// callerError is an error of the functions that take the answer.
type callerError struct{ err error }

// Error implements error.
func (e *callerError) Error() string { return e.err.Error() }

// answer runs the statement. All values come as text, which every type has.
func answer(ctx context.Context, tx pgx.Tx, statement string, columns func([]string) error, row func([]any) error) error {
	rows, err := tx.Query(ctx, statement, pgx.QueryResultFormats{pgx.TextFormatCode})
	if err != nil {
		return err
	}
	defer rows.Close()
	fields := rows.FieldDescriptions()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if err := columns(names); err != nil {
		return &callerError{err}
	}
	for rows.Next() {
		raw := rows.RawValues()
		values := make([]any, len(raw)) // the caller may keep it
		for i, text := range raw {
			if text != nil {
				values[i] = parse(fields[i].DataTypeOID, string(text))
			}
		}
		if err := row(values); err != nil {
			return &callerError{err}
		}
	}
	return rows.Err()
}

// parse reads a value of a type that callers know; others stay text.
func parse(oid uint32, text string) any {
	switch oid {
	case pgtype.BoolOID:
		return text == "t"
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
	case pgtype.Float4OID, pgtype.Float8OID, pgtype.NumericOID:
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			return f
		}
	case pgtype.TimestamptzOID:
		if t, err := time.Parse("2006-01-02 15:04:05.999999Z07", text); err == nil {
			return t.UTC()
		}
	case pgtype.TimestampOID:
		if t, err := time.Parse("2006-01-02 15:04:05.999999", text); err == nil {
			return t
		}
	case pgtype.DateOID:
		if t, err := time.Parse(time.DateOnly, text); err == nil {
			return t
		}
	}
	return text
}
