// Package postgres stores the history in PostgreSQL: one database that several nodes may write to at the same time, and that other
// programs can query. Samples are in one table with a partition or, with TimescaleDB, a chunk for each UTC day, each point and time once;
// positions and cursor are committed with them. The tables are documented in docs/formats/postgres.md.
package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/postgres/connection"
)

var errClosed = errors.New("the store is closed")

// Store implements store.Store and store.SQL. It is safe for concurrent use. The next call re-establishes a lost
// connection.
//
// Its parts share a server and a writer. Locks are taken in this order: running of upkeep, write of writer, mu of server.
type Store struct {
	*server
	*writer
	*appends
	*queries
	*statements
	*upkeep
}

// server is the database, with read-only connections.
type server struct {
	options  Options
	settings connection.Settings
	config   *pgx.ConnConfig
	pool     *pgxpool.Pool // its connections cannot write

	mu     sync.RWMutex
	closed bool
	id     string // of the tables; "" before the first connection
	ids    map[point.Path]int32
}

var (
	_ store.Store = (*Store)(nil)
	_ store.SQL   = (*Store)(nil)
)

// Open connects to the database and prepares its tables. It returns fault.Unreachable if the server does not
// answer, fault.Refused if it rejects the user, fault.Conflict if another node of the same name writes to it
// or its tables belong to a newer program, and fault.Invalid for unusable options or databases.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, settings, err := o.complete()
	if err != nil {
		return nil, err
	}
	db := &server{options: o, settings: settings, ids: make(map[point.Path]int32)}
	if db.config, err = settings.Config("postgres.Open"); err != nil {
		return nil, err
	}
	s := assemble(db)
	s.forget()
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.Connected(ctx, "postgres.Open"); err != nil {
		if kind := fault.KindOf(err); !o.Patient || (kind != fault.Unreachable && kind != fault.Unavailable) {
			return nil, err
		}
		o.Log.WarnContext(ctx, "the database is away; readings wait in the log", "err", err)
	}
	if err := s.openPool(ctx); err != nil {
		s.Disconnect(ctx)
		return nil, err
	}
	return s, nil
}

// assemble creates the parts of a store that is not connected yet.
func assemble(db *server) *Store {
	w := &writer{server: db, Writer: &connection.Writer{Settings: &db.settings, Config: db.config}}
	w.Begin = w.begin
	lying := &days{writer: w}
	tables := &schema{writer: w}
	w.prepare = func(ctx context.Context, op string) error { return tables.prepare(ctx, op) }
	w.settle = func(ctx context.Context, op string) error {
		if err := lying.settle(ctx, op); err != nil {
			return err
		}
		if err := tables.identify(ctx); err != nil {
			return err
		}
		tables.restricting.Do(func() { tables.restrict(ctx) })
		return nil
	}
	return &Store{
		server: db, writer: w, appends: &appends{writer: w, days: lying}, queries: &queries{server: db},
		statements: &statements{server: db}, upkeep: &upkeep{writer: w, days: lying},
	}
}

// openPool prepares the read-only connections. It opens none yet.
func (s *server) openPool(ctx context.Context) error {
	var err error
	s.pool, err = s.settings.Pool(ctx, "postgres.Open", s.config, readers)
	return err
}

// Close ends all connections. Further calls of Close do nothing.
func (s *Store) Close() error {
	s.running.Lock()
	defer s.running.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	s.mu.Lock()
	closed := s.closed
	s.closed = true
	s.mu.Unlock()
	if closed {
		return nil
	}
	s.Disconnect(context.Background())
	s.pool.Close()
	return nil
}

// usable returns the error for a call that comes after Close or with an ended context.
func (s *server) usable(ctx context.Context, op string) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return fault.E(op, fault.Unavailable, "", errClosed)
	}
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	return nil
}

// forget drops what is known about the database. The caller holds write.
func (s *writer) forget() {
	s.held = make(map[string]bool)
	s.cursor = store.Cursor{}
	s.seen = make(map[int32]int64)
	s.made = make(map[store.Day]bool)
	s.mu.Lock()
	clear(s.ids)
	s.mu.Unlock()
}

// ask runs a query on a read-only connection, with results in binary form.
func (s *server) ask(ctx context.Context, op, query string, row func(values [][]byte) error, args ...any) error {
	if err := s.usable(ctx, op); err != nil {
		return err
	}
	rows, err := s.pool.Query(ctx, query, append([]any{pgx.QueryResultFormats{pgx.BinaryFormatCode}}, args...)...)
	if err != nil {
		return s.fail(op, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.RawValues()); err != nil {
			return err
		}
	}
	return s.fail(op, rows.Err())
}
