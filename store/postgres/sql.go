package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/jackc/pgx/v5/pgtype"

	"voltbus/fault"
	"voltbus/store/postgres/connection"
	"voltbus/store/postgres/statement"
)

const opSQL = "postgres.SQL"

// Bounds of one statement, in addition to those of package statement.
const (
	longestSQL = time.Minute // for a caller without a limit
	maxRow     = 8 << 20     // bytes
	maxColumns = 1664        // the server's own limit
)

var (
	errSuperuser = errors.New("the store's user has rights beyond its own tables, so that a statement could read files of the server or reach others; give store.url a plain user that owns the database, then ask again")
	errRow       = fmt.Errorf("answers with a row of more than %d MiB; select less of it", maxRow>>20)
)

// statements runs people's statements, each on its own connection.
type statements struct{ *server }

// SQL implements store.SQL. The statement sees the views samples(point, time, value, exact, text, kind, quality) and points(id,
// path). Its tree is checked (package statement) and it runs on its own connection, in a read-only transaction with a time-out, with
// the rights of the role SQLRole if that exists. The server ends it when the caller disconnects.
func (s *statements) SQL(ctx context.Context, text string, columns func([]string) error, row func([]any) error) error {
	if err := s.usable(ctx, opSQL); err != nil {
		return err
	}
	asked, err := statement.Read(text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, longestSQL)
	defer cancel()
	conn, err := s.connectSQL(ctx)
	if err != nil {
		return s.failSQL(ctx, err)
	}
	defer func() {
		patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(patient) // errors do not matter
	}()
	if err := s.judgeSQL(ctx, conn, asked); err != nil {
		return s.failSQL(ctx, err)
	}
	return s.failSQL(ctx, s.carryOut(ctx, conn, asked, columns, row))
}

// connectSQL opens a connection for one statement. What the statement leaves in the session ends with it.
func (s *statements) connectSQL(ctx context.Context) (*pgx.Conn, error) {
	cfg := s.config.Copy()
	if err := s.settings.ReadPassword(ctx, cfg); err != nil {
		return nil, err
	}
	end, _ := ctx.Deadline()
	maps.Copy(cfg.RuntimeParams, map[string]string{
		"application_name":                    "voltbus " + s.options.Writer + " statement",
		"statement_timeout":                   strconv.FormatInt(max(1, time.Until(end).Milliseconds())+1, 10),
		"idle_in_transaction_session_timeout": "10000", "lock_timeout": strconv.FormatInt(connection.LockTime.Milliseconds(), 10),
		"work_mem": "16MB", "hash_mem_multiplier": "1", "jit": "off", "max_parallel_workers_per_gather": "2", "search_path": s.options.Schema,
	})
	cfg.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		return pgproto3.NewFrontend(&messageReader{in: r}, w)
	}
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, err
	}
	// The first needs a system that supports it, the second a privilege; without them only the statement's time limit applies.
	for _, setting := range []string{"client_connection_check_interval = '1s'", "temp_file_limit = '" + tempFiles + "'"} {
		if _, err := conn.Exec(ctx, "SET "+setting); err != nil && connection.StateOf(err) == "" {
			return nil, errors.Join(err, conn.Close(ctx))
		}
	}
	return conn, nil
}

// judgeSQL refuses statements that do more than read, and all statements if the user has more privileges than a node needs.
func (s *statements) judgeSQL(ctx context.Context, conn *pgx.Conn, asked *statement.Statement) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // the view must not persist
	var mighty bool
	err = tx.QueryRow(ctx, `SELECT rolsuper OR rolreplication OR EXISTS (SELECT FROM pg_roles r
		WHERE r.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_read_all_data') AND pg_has_role(r.oid, 'MEMBER'))
		FROM pg_roles WHERE rolname = session_user`).Scan(&mighty)
	switch {
	case err != nil:
		return err
	case mighty:
		return fault.E(opSQL, fault.Refused, "", errSuperuser)
	}
	return asked.Judge(ctx, tx, s.options.Schema)
}

// carryOut runs a checked statement.
func (s *statements) carryOut(ctx context.Context, conn *pgx.Conn, asked *statement.Statement, columns func([]string) error, row func([]any) error) error {
	tx, err := conn.BeginTx(ctx, pgx.TxOptions{AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // errors do not matter
	var may bool
	if err := tx.QueryRow(ctx, askRole, s.options.SQLRole(), s.options.Schema).Scan(&may); err != nil {
		return err
	}
	if may {
		if _, err := tx.Exec(ctx, "SET LOCAL ROLE "+s.options.SQLRole()); err != nil {
			return err
		}
	}
	return answer(ctx, tx, asked.Query(), columns, row)
}

// failSQL distinguishes an error in the statement from a failure of the store.
func (s *statements) failSQL(ctx context.Context, err error) error {
	const op = opSQL
	e, ok := errors.AsType[*pgconn.PgError](err)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fault.E(op, fault.KindOf(ctx.Err()), "", err)
	case errors.Is(err, errRow):
		return fault.E(op, fault.Invalid, "", errRow)
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

// callerError is an error of the functions that receive the answer.
type callerError struct{ err error }

// Error implements error.
func (e *callerError) Error() string { return e.err.Error() }

// answer runs the statement. All values are requested as text, which every type supports.
func answer(ctx context.Context, tx pgx.Tx, query string, columns func([]string) error, row func([]any) error) error {
	rows, err := tx.Query(ctx, query, pgx.QueryResultFormats{pgx.TextFormatCode})
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
		values := make([]any, len(raw)) // the caller may retain it
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

// parse parses values of types known to callers; others stay text.
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
