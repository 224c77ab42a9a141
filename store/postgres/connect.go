package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"voltbus/fault"
	"voltbus/store"
)

// The states of PostgreSQL's errors that are acted on here.
const (
	stateUnique  = "23505"
	stateLocked  = "55P03" // the lock did not come in time
	stateNoTable = "42P01"
)

// lockTime is how long a lock may take that the server still holds for a connection that broke.
const lockTime = 3 * time.Second

var (
	errVersion  = errors.New("a newer program made its tables; install that version, or name another schema in store.schema")
	errEncoding = errors.New("it must have the encoding UTF8: make it with createdb -E UTF8 -T template0")
)

// writer is the connection that writes, with what it claimed and what it knows of the database.
type writer struct {
	*server
	prepare func(ctx context.Context, op string) error // makes the tables
	settle  func(ctx context.Context, op string) error // makes them ready for this program, when the name is claimed

	write  sync.Mutex      // guards what follows: it belongs to the holder
	conn   *pgx.Conn       // nil after a loss
	own    []string        // origins that belong to this node
	held   map[string]bool // names that the connection has claimed
	cursor store.Cursor
	seen   map[int32]int64    // per point the newest time that this store wrote
	made   map[store.Day]bool // days that have a partition or chunk
}

// connect makes the writer's connection: it prepares the tables, claims the writer's name and
// reads its cursor. The caller holds write.
func (s *writer) connect(ctx context.Context, op string) error {
	cfg := s.config.Copy()
	if err := s.options.readPassword(ctx, cfg); err != nil {
		return err
	}
	cfg.RuntimeParams["lock_timeout"] = strconv.FormatInt(lockTime.Milliseconds(), 10)
	cfg.RuntimeParams["idle_in_transaction_session_timeout"] = "60000"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return s.fail(op, err)
	}
	s.forget()
	s.conn = conn
	if err := s.begin(ctx, op); err != nil {
		s.disconnect(ctx)
		return err
	}
	return nil
}

func (s *writer) begin(ctx context.Context, op string) error {
	if err := s.prepare(ctx, op); err != nil {
		return err
	}
	if err := s.claim(ctx, op); err != nil {
		return err
	}
	if err := s.settle(ctx, op); err != nil {
		return s.fail(op, err)
	}
	_, err := s.conn.Exec(ctx, "INSERT INTO writer (name) VALUES ($1) ON CONFLICT DO NOTHING", s.options.Writer)
	if err == nil {
		var sequence int64
		err = s.conn.QueryRow(ctx, "SELECT log, sequence FROM writer WHERE name = $1", s.options.Writer).Scan(&s.cursor.Log, &sequence)
		s.cursor.Sequence = uint64(sequence)
	}
	return s.fail(op, err)
}

// disconnect ends the writer's connection, and with it what it holds. The caller holds write.
func (s *writer) disconnect(ctx context.Context) {
	if s.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.conn.Close(ctx) // a broken one has nothing to say
	s.conn = nil
}

// connected returns with a working connection for writing. The caller holds write.
func (s *writer) connected(ctx context.Context, op string) error {
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	if s.conn != nil && !s.conn.IsClosed() {
		return nil
	}
	s.conn = nil
	return s.connect(ctx, op)
}

// hold claims a name for this connection. The caller holds write.
func (s *writer) hold(ctx context.Context, op, origin string) error {
	if s.held[origin] {
		return nil
	}
	_, err := s.conn.Exec(ctx, "SELECT pg_advisory_lock(hashtextextended($1, 1))", s.options.Schema+" "+origin)
	if stateOf(err) == stateLocked {
		return fault.E(op, fault.Conflict, origin, fmt.Errorf(
			"another node of this name or with a copy of this data directory stores in the database now%s; stop it, or give this node another node.name and an empty data directory", s.holder(ctx, origin)))
	}
	if err != nil {
		return s.fail(op, err)
	}
	s.held[origin] = true
	return nil
}

// holder says who has claimed the origin, as far as the server reports it.
func (s *writer) holder(ctx context.Context, origin string) string {
	var name, from string
	var since time.Time
	err := s.conn.QueryRow(ctx, `SELECT a.application_name, coalesce(host(a.client_addr), 'the same machine'), a.backend_start
		FROM pg_locks l JOIN pg_stat_activity a USING (pid), hashtextextended($1, 1) AS key
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
		AND l.classid = ((key >> 32) & 4294967295)::oid AND l.objid = (key & 4294967295)::oid
		AND a.backend_start IS NOT NULL LIMIT 1`, s.options.Schema+" "+origin).Scan(&name, &from, &since)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" (%q, from %s, since %s)", name, from, since.UTC().Format(time.RFC3339))
}

// transaction runs f between BEGIN and COMMIT. If the outcome of the COMMIT is unknown, the
// connection is ended: the next one reads what became of it. The caller holds write.
func (s *writer) transaction(ctx context.Context, op string, f func() error) error {
	if _, err := s.conn.Exec(ctx, "BEGIN"); err != nil {
		return s.fail(op, err)
	}
	err := f()
	patient, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err != nil {
		if _, rolled := s.conn.Exec(patient, "ROLLBACK"); rolled != nil {
			s.disconnect(ctx)
		}
		clear(s.made) // another node may have dropped one
		return s.fail(op, err)
	}
	if err = ctx.Err(); err == nil {
		_, err = s.conn.Exec(patient, "COMMIT")
	}
	if err != nil {
		s.disconnect(ctx)
	}
	return s.fail(op, err)
}

// stateOf returns the state of an error of the server, "" for others.
func stateOf(err error) string {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return e.Code
	}
	return ""
}
