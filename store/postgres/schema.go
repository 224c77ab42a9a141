package postgres

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"voltbus/fault"
)

//go:embed schema1.sql
var schema1 string

// schema2 counts samples left out on the way across several nodes.
const schema2 = "ALTER TABLE position ADD COLUMN left_out bigint NOT NULL DEFAULT 0"

// schema3 lets several nodes store one origin: each records how far its own log has it. Earlier blocks may have come
// through any of them.
const schema3 = `CREATE TABLE way (
	writer   text NOT NULL,
	origin   text NOT NULL,
	sequence bigint NOT NULL,
	samples  bigint NOT NULL,
	refused  bigint NOT NULL,
	PRIMARY KEY (writer, origin)
);
INSERT INTO way SELECT w.name, p.origin, p.sequence, p.samples, p.refused FROM writer w, position p;
ALTER TABLE schema_version ADD COLUMN id uuid NOT NULL DEFAULT gen_random_uuid();`

// schema4 counts samples that replaced a different one.
const schema4 = "ALTER TABLE writer ADD COLUMN overwritten bigint NOT NULL DEFAULT 0"

// steps upgrade each version of the tables to the next: steps[0] creates them.
func steps() []string { return []string{schema1 + samplesView, schema2, schema3, schema4} }

// schema manages the tables and the roles of the history.
type schema struct {
	*writer
	restricting sync.Once // the role of statements, at the first connection
}

// prepare creates the tables or upgrades them to this program's version. The caller holds write.
func (s *schema) prepare(ctx context.Context, op string) error {
	var encoding string
	if err := s.Conn.QueryRow(ctx, "SELECT current_setting('server_encoding')").Scan(&encoding); err != nil {
		return s.fail(op, err)
	}
	if encoding != "UTF8" {
		return fault.E(op, fault.Invalid, s.place(), errEncoding)
	}
	if version, err := s.version(ctx); err != nil || version == len(steps()) {
		return s.fail(op, err)
	}
	err := s.transaction(ctx, op, func() error {
		// Of two concurrent callers the second finds the tables.
		if _, err := s.Conn.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", s.options.Schema); err != nil {
			return err
		}
		return s.migrate(ctx, op)
	})
	if err == nil {
		s.greet(ctx)
	}
	return err
}

// version returns the version of the tables, 0 if there are none.
func (s *schema) version(ctx context.Context) (version int, err error) {
	var there bool
	err = s.Conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", s.options.Schema+".schema_version").Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	err = s.Conn.QueryRow(ctx, "SELECT version FROM schema_version").Scan(&version)
	if err == nil && version > len(steps()) {
		err = fault.E("postgres.Open", fault.Conflict, s.place(), fmt.Errorf("%w (they have version %d, this program knows %d)", errVersion, version, len(steps())))
	}
	return version, err
}

// identify reads the identity of the tables. The caller holds write.
func (s *schema) identify(ctx context.Context) error {
	var id string
	if err := s.Conn.QueryRow(ctx, "SELECT id::text FROM schema_version").Scan(&id); err != nil {
		return err
	}
	s.mu.Lock()
	s.id = id
	s.mu.Unlock()
	return nil
}

// ID identifies the tables: stores with the same ID write into the same ones. It is "" before the first connection.
func (s *server) ID() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.id
}

// migrate performs the missing steps, within a transaction.
func (s *schema) migrate(ctx context.Context, op string) error {
	var there bool
	err := s.Conn.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", s.options.Schema).Scan(&there)
	if err == nil && !there {
		_, err = s.Conn.Exec(ctx, "CREATE SCHEMA "+s.options.Schema)
	}
	if err != nil {
		return s.fail(op, err)
	}
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	for ; version < len(steps()); version++ {
		if _, err := s.Conn.PgConn().Exec(ctx, steps()[version]).ReadAll(); err != nil {
			return fmt.Errorf("bring the tables to version %d: %w", version+1, err)
		}
		if _, err := s.Conn.Exec(ctx, "UPDATE schema_version SET version = $1", version+1); err != nil {
			return err
		}
	}
	return nil
}

// greet logs the kind of server, once for each new set of tables.
func (s *schema) greet(ctx context.Context) {
	var server, fsync string
	if err := s.Conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('fsync')").Scan(&server, &fsync); err != nil {
		return // the next statement fails the same way
	}
	s.options.Log.InfoContext(ctx, "tables of the history made", "server", server, "schema", s.options.Schema)
	if fsync != "on" {
		s.options.Log.WarnContext(ctx, "the server does not flush to its disk: what it acknowledges may be lost; set fsync = on", "server", server)
	}
}
