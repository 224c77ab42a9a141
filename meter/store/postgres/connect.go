package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"voltbus/fault"
	"voltbus/meter"
	"voltbus/meter/store"
	"voltbus/meter/store/directory"
	"voltbus/meter/store/postgres/citus"
	"voltbus/meter/store/postgres/registry"
	"voltbus/meter/store/postgres/table"
	"voltbus/store/postgres/connection"
)

// version is the layout of the tables.
const version = 1

var (
	errVersion  = errors.New("a newer program made its metering tables; install that version, or name another schema")
	errEncoding = errors.New("it must have the encoding UTF8: make it with createdb -E UTF8 -T template0")
	errFewer    = errors.New("it has fewer meters than when this node started, as after a restored backup; restart the node")
)

// begin makes a new connection of the writer ready: it claims the tables, makes them, and reads what is kept in memory. The
// caller holds write.
func begin(ctx context.Context, s *Store, op string) error {
	taken, holder, err := s.writer.Claim(ctx, op, s.options.Schema+" metering")
	switch {
	case taken:
		return fault.E(op, fault.Conflict, connection.Place(s.config), fmt.Errorf(
			"another node keeps its readings in the schema %s%s; give this node another schema", s.options.Schema, holder))
	case err != nil:
		return err
	}
	for _, f := range []func(context.Context, *Store, string) error{prepare, loadState, loadSources, loadStrays, loadMeters} {
		if err := f(ctx, s, op); err != nil {
			return s.fail(op, err)
		}
	}
	return s.fail(op, connection.LetReadings(ctx, s.writer.Conn, connection.StatementRole(s.options.Schema), s.options.Schema))
}

// prepare makes the tables, or looks whether they are those of this program and zone.
func prepare(ctx context.Context, s *Store, op string) error {
	c := s.writer.Conn
	var encoding string
	var there, schema bool
	err := c.QueryRow(ctx, "SELECT current_setting('server_encoding'), to_regclass($1) IS NOT NULL, to_regnamespace($2) IS NOT NULL",
		s.options.Schema+".meter_layout", s.options.Schema).Scan(&encoding, &there, &schema)
	switch {
	case err != nil:
		return err
	case encoding != "UTF8":
		return fault.E(op, fault.Invalid, connection.Place(s.config), errEncoding)
	case !there:
		return s.writer.Transaction(ctx, op, func() error { return create(ctx, s, schema) })
	}
	var is int
	var zone string
	if err := c.QueryRow(ctx, "SELECT version, zone FROM meter_layout").Scan(&is, &zone); err != nil {
		return err
	}
	switch {
	case is > version:
		return fault.E(op, fault.Conflict, connection.Place(s.config), errVersion)
	case zone != s.options.Zone.String():
		return fault.E(op, fault.Conflict, connection.Place(s.config), fmt.Errorf("its days are those of %s: set the zone to it, or name another schema", zone))
	}
	return table.MakeViews(ctx, c, s.options.Schema)
}

// create makes the tables, within a transaction. With Citus they are spread over its machines.
func create(ctx context.Context, s *Store, schema bool) error {
	c := s.writer.Conn
	if _, err := c.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", s.options.Schema); err != nil { // the history may make the schema just now
		return err
	}
	text := table.Schema
	if !schema {
		text = "CREATE SCHEMA IF NOT EXISTS " + s.options.Schema + ";\n" + text
	}
	if _, err := c.PgConn().Exec(ctx, text).ReadAll(); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, "INSERT INTO meter_layout VALUES ($1, $2)", version, s.options.Zone.String()); err != nil {
		return err
	}
	spread, err := citus.Distribute(ctx, c)
	if err != nil {
		return err
	}
	if err := table.MakeViews(ctx, c, s.options.Schema); err != nil {
		return err
	}
	s.options.Log.InfoContext(ctx, "tables of the metering store made", "schema", s.options.Schema, "citus", spread)
	return nil
}

func loadState(ctx context.Context, s *Store, _ string) error {
	var sequence, exception, eventSequence, event int64
	err := s.writer.Conn.QueryRow(ctx, "SELECT log, sequence, newest, exception, number, event_log, event_sequence, event FROM meter_state").
		Scan(&s.state.log, &sequence, &s.state.newest, &exception, &s.state.number, &s.state.eventLog, &eventSequence, &event)
	s.state.sequence, s.state.exception = uint64(sequence), uint64(exception)
	s.state.eventSequence, s.state.event = uint64(eventSequence), uint64(event)
	return err
}

func loadSources(ctx context.Context, s *Store, _ string) error {
	rows, err := s.writer.Conn.Query(ctx, "SELECT stage, status, reason, who, rule FROM meter_source ORDER BY number")
	if err != nil {
		return err
	}
	var stage int16
	var status int64
	var one source
	var list []source
	of := map[source]uint32{}
	_, err = pgx.ForEachRow(rows, []any{&stage, &status, &one.Origin.Reason, &one.Origin.Who, &one.Origin.Rule}, func() error {
		one.Stage, one.Status = meter.Stage(stage), uint32(status)
		of[one] = uint32(len(list))
		list = append(list, one)
		return nil
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sources, s.sourceOf = list, of
	return nil
}

func loadStrays(ctx context.Context, s *Store, _ string) error {
	rows, err := s.writer.Conn.Query(ctx, "SELECT s.who, count(*) FROM meter_stray t JOIN meter_source s ON s.number = t.source GROUP BY s.who")
	if err != nil {
		return err
	}
	var who string
	var n int64
	of := map[string]uint64{}
	_, err = pgx.ForEachRow(rows, []any{&who, &n}, func() error {
		of[store.OriginOf(who)] += uint64(n)
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.strays = of
	return err
}

// loadMeters reads the meters that are not in memory yet.
func loadMeters(ctx context.Context, s *Store, op string) error {
	have, _ := s.dir.Len()
	models, err := registry.Models(ctx, s.writer.Conn)
	if err != nil {
		return err
	}
	var all int
	if err := s.writer.Conn.QueryRow(ctx, "SELECT count(*) FROM meter").Scan(&all); err != nil {
		return err
	}
	if all < have || len(models) < s.models {
		return fault.E(op, fault.Conflict, connection.Place(s.config), errFewer)
	}
	s.dir.Load(models[s.models:], nil)
	s.models = len(models)
	if all == have {
		return nil
	}
	return scan(ctx, s.writer.Conn, "SELECT id, model, first, since, until FROM meter WHERE number >= $1 ORDER BY number", func(v [][]byte) error {
		s.dir.Load(nil, []directory.Entry{{
			ID: string(v[0]), Model: uint32(number(v[1])), First: uint32(number(v[2])), Since: store.Day(number(v[3])), Until: store.Day(number(v[4])),
		}})
		return nil
	}, have)
}

// querier asks: a connection, or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// scan calls each with the rows of an answer, in binary form.
func scan(ctx context.Context, q querier, query string, each func(columns [][]byte) error, args ...any) error {
	rows, err := q.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.RawValues()); err != nil {
			return err
		}
	}
	return rows.Err()
}

// copyInto fills a table, within a transaction.
func (s *database) copyInto(ctx context.Context, name, columns string, r *rows) error {
	if r.Len() == 0 {
		return nil
	}
	_, err := s.writer.Conn.PgConn().CopyFrom(ctx, r.Reader(), "COPY "+name+" ("+columns+") FROM STDIN BINARY")
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		err = fmt.Errorf("fill %s: %w", name, e)
	}
	return err
}
