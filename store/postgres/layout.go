package postgres

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/store"
)

// mostMoved is the maximum number of samples moved into a hypertable when a node connects: a few seconds' work.
const mostMoved = 1_000_000

var errExtension = errors.New("its table of samples is a hypertable, but the database has no extension TimescaleDB; " +
	"restore the database as TimescaleDB's manual says, or name another schema in store.schema")

//go:embed samples.sql
var samplesView string

// days are how samples are divided into days in the database.
type days struct {
	*writer
	said string // the layout, as logged
}

// layout is how the table of samples is divided into days.
type layout struct {
	partitioned bool   // by PostgreSQL itself; else a hypertable
	extension   string // quoted schema with the functions of TimescaleDB; "" if the database does not have it
}

// layout queries the layout. Another node may change it unless the transaction holds lockDays or shareDays. The caller holds write.
func (s *days) layout(ctx context.Context) (l layout, err error) {
	err = s.Conn.QueryRow(ctx, `SELECT relkind = 'p', coalesce((SELECT quote_ident(n.nspname) FROM pg_extension e
		JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'timescaledb'), '')
		FROM pg_class WHERE oid = 'sample'::regclass`).Scan(&l.partitioned, &l.extension)
	if err == nil && !l.partitioned && l.extension == "" {
		err = fault.E("postgres.Open", fault.Unavailable, s.place(), errExtension)
	}
	return l, err
}

// lockDays keeps other nodes from creating or dropping days until the transaction ends.
func (s *days) lockDays(ctx context.Context) error {
	_, err := s.Conn.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 2))", s.options.Schema)
	return err
}

// shareDays keeps days from being dropped, and the layout from changing, until the transaction ends.
func (s *days) shareDays(ctx context.Context) error {
	_, err := s.Conn.Exec(ctx, "SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 3))", s.options.Schema)
	return err
}

// aloneWithDays is lockDays, and waits until no writer is active.
func (s *days) aloneWithDays(ctx context.Context) error {
	if err := s.lockDays(ctx); err != nil {
		return err
	}
	_, err := s.Conn.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 3))", s.options.Schema)
	return err
}

// settle makes the table of samples a hypertable if the database has TimescaleDB and holds few samples. If that fails,
// partitions stay, which work as well. The caller holds write.
func (s *days) settle(ctx context.Context, op string) error {
	l, err := s.layout(ctx)
	if err != nil || l.extension == "" {
		return err
	}
	var samples int64
	if l.partitioned {
		if err := s.Conn.QueryRow(ctx, "SELECT coalesce(sum(samples), 0)::bigint FROM tally").Scan(&samples); err != nil {
			return err
		}
	}
	switch {
	case !l.partitioned:
		s.say(ctx, "they lie in a hypertable")
	case samples > mostMoved:
		s.say(ctx, "they stay in partitions, being many; name another store.schema to begin a history in a hypertable")
	default:
		if err := s.transaction(ctx, op, func() error { return s.convert(ctx) }); err != nil {
			if s.Conn == nil {
				return err
			}
			s.options.Log.WarnContext(ctx, "table of samples cannot be made a hypertable; partitions serve too", "err", err)
			return nil
		}
		s.say(ctx, "they lie in a hypertable")
	}
	return nil
}

// say logs the layout, once.
func (s *days) say(ctx context.Context, text string) {
	if s.said != text {
		s.said = text
		s.options.Log.InfoContext(ctx, "the database has TimescaleDB", "schema", s.options.Schema, "samples", text)
	}
}

// convert replaces the partitions by a hypertable, within a transaction. Its chunks are in the same schema. The view
// stays, with its privileges.
func (s *days) convert(ctx context.Context) error {
	if err := s.aloneWithDays(ctx); err != nil {
		return err
	}
	l, err := s.layout(ctx)
	if err != nil || !l.partitioned { // another node was faster
		return err
	}
	for _, statement := range []string{
		"ALTER TABLE sample RENAME TO partitioned", // waits for readers
		"CREATE TABLE sample (LIKE partitioned INCLUDING ALL)",
		"SELECT " + l.extension + ".create_hypertable('sample', 'time', chunk_time_interval => interval '1 day', create_default_indexes => false, " +
			"associated_schema_name => '" + s.options.Schema + "', associated_table_prefix => 'sample')",
		"INSERT INTO sample SELECT * FROM partitioned",
		samplesView,
		"DROP TABLE partitioned",
	} {
		if _, err := s.Conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("make the table of samples a hypertable: %w", err)
		}
	}
	return nil
}

// makeChunk makes TimescaleDB create the chunk of a day, within a transaction. This requires inserting a row, which is deleted at once.
func (s *days) makeChunk(ctx context.Context, d store.Day) error {
	var there bool
	if err := s.Conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM day WHERE day = $1)", d.Start()).Scan(&there); err != nil || there {
		return err
	}
	// Points have numbers from 1.
	_, err := s.Conn.Exec(ctx, "INSERT INTO sample (time, id, tag) VALUES ($1::timestamptz, 0, 0)", d.Start())
	if err == nil {
		_, err = s.Conn.Exec(ctx, "DELETE FROM sample WHERE id = 0 AND time = $1::timestamptz", d.Start())
	}
	return err
}

// makePartition creates a partition if absent, within a transaction. It is created separately and then attached, which
// does not wait for readers or writers.
func (s *days) makePartition(ctx context.Context, d store.Day) error {
	name := partition(d)
	var there bool
	if err := s.Conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", s.options.Schema+"."+name).Scan(&there); err != nil || there {
		return err
	}
	from, to := d.Start().Format(time.RFC3339), d.End().Format(time.RFC3339)
	for _, statement := range []string{
		"CREATE TABLE " + name + " (LIKE sample INCLUDING DEFAULTS, CHECK (time >= '" + from + "' AND time < '" + to + "'))",
		"ALTER TABLE sample ATTACH PARTITION " + name + " FOR VALUES FROM ('" + from + "') TO ('" + to + "')",
	} {
		if _, err := s.Conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// dropSamples drops the samples of a day at once, within a transaction.
func (s *days) dropSamples(ctx context.Context, l layout, d store.Day) error {
	var err error
	if l.partitioned {
		_, err = s.Conn.Exec(ctx, "DROP TABLE IF EXISTS "+partition(d))
	} else {
		_, err = s.Conn.Exec(ctx, "SELECT "+l.extension+".drop_chunks('sample', older_than => $1::timestamptz, newer_than => $2::timestamptz)", d.End(), d.Start())
	}
	return err
}

// sizeOfDay is the expression for the bytes of the samples of the day d.day, in which $1 is the schema.
func (l layout) sizeOfDay() string {
	if l.partitioned {
		return "pg_total_relation_size(to_regclass($1::text || '.sample_' || to_char(d.day, 'YYYYMMDD')))"
	}
	return `(SELECT sum(pg_total_relation_size(format('%I.%I', c.chunk_schema, c.chunk_name)::regclass))::bigint
		FROM timescaledb_information.chunks c WHERE c.hypertable_schema = $1::text AND c.hypertable_name = 'sample'
		AND c.range_start = d.day::timestamp AT TIME ZONE 'UTC')`
}
