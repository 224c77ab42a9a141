// Package duckdb is the default store: DuckDB tables for the days that are still open, one sorted
// Parquet file for each closed day, and a manifest of both in the same transactions as the
// samples. Other programs may read the files while the store is open. The layout on disk is
// documented in docs/formats/store.md.
package duckdb

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/snapshot"
)

var (
	errClosed  = errors.New("the store is closed")
	errBroken  = errors.New("the store met an error that it recovers from by itself; try again")
	errVersion = errors.New("the history has a layout that this program does not know")
)

// Store implements store.Store, store.SQL and store.Exporter. It is safe for concurrent use.
type Store struct {
	options Options
	unlock  func() // gives the directory free

	// upkeep is held by Maintain and Scrub, write by whoever changes the database. They are
	// taken in this order, and both before mu.
	upkeep  sync.Mutex
	write   sync.Mutex
	writer  *engine.Conn // belongs to the holder of write
	scratch scratch
	saved   *snapshot.Keeper
	seen    map[store.Day]quiet

	handle handle
	hours  hourCache
	pieces pieces

	mu       sync.RWMutex // guards what follows; never held during a statement
	ledger   *store.Ledger
	cat      *catalogue
	days     map[store.Day]*day
	epoch    *epoch
	retired  []*epoch
	counters counters
}

// counters are what cannot be counted from the data.
type counters struct{ replaced, expired, overwritten uint64 }

var (
	_ store.Store    = (*Store)(nil)
	_ store.SQL      = (*Store)(nil)
	_ store.Exporter = (*Store)(nil)
)

// Open opens or creates the store in a directory and heals what a crash left behind. It returns
// fault.Conflict if another process has it open, fault.Invalid if the directory cannot be used.
// A database that is damaged is set aside, and its closed days are found again from their files.
func Open(ctx context.Context, o Options) (*Store, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if dir, err := filepath.Abs(o.Dir); err == nil {
		o.Dir = dir // the process of a statement has a directory of its own
	}
	unlock, err := lockDirectory(o.Dir)
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, unlock: unlock, seen: make(map[store.Day]quiet), scratch: scratch{words: make(map[store.Day]words)}, saved: snapshot.New(o.Dir, o.Log)}
	s.handle.idled.L = &s.handle.mu
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.openDamaged(ctx); err != nil {
		unlock()
		return nil, err
	}
	return s, nil
}

// start opens the database and reads its state. The caller holds write.
func (s *Store) start(ctx context.Context) error {
	db, err := engine.Open(s.databaseFile(), s.options.settings())
	if err != nil {
		return err
	}
	c, err := db.Connect()
	if err != nil {
		db.Close()
		return err
	}
	if err := s.load(ctx, c); err != nil {
		c.Close()
		db.Close()
		return err
	}
	s.writer = c
	s.handle.use(db)
	return nil
}

// load reads the state of the database, heals it, and makes it the store's.
func (s *Store) load(ctx context.Context, c *engine.Conn) error {
	if err := lockDown(ctx, c, s.options.Dir); err != nil {
		return err
	}
	if err := prepareSchema(ctx, c); err != nil {
		return err
	}
	if err := s.heal(ctx, c); err != nil {
		return err
	}
	if err := s.clearPieces(); err != nil {
		return err
	}
	days, err := loadDays(ctx, c)
	if err != nil {
		return err
	}
	cat, err := loadCatalogue(ctx, c, days, s.saved)
	if err != nil {
		return err
	}
	positions, err := loadPositions(ctx, c)
	if err != nil {
		return err
	}
	cursor, err := loadCursor(ctx, c)
	if err != nil {
		return err
	}
	known, err := loadCounters(ctx, c)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ledger, s.cat, s.days = store.NewLedger(positions, cursor), cat, days
	s.counters = known
	s.epoch, s.retired = &epoch{}, nil
	clear(s.scratch.words)
	return nil
}

// Close waits for the calls in progress and closes the store. Further calls of Close do nothing.
func (s *Store) Close() error {
	s.upkeep.Lock()
	defer s.upkeep.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	if !s.handle.close() {
		return nil
	}
	if s.writer != nil {
		if days := places(s.days); s.saved.Unsaved() || s.saved.Stale(days) {
			s.saved.Save(context.Background(), s.writer, &s.cat.last, days)
		}
		s.release(context.Background(), s.writer)
		s.writer.Close()
		s.writer = nil
	}
	s.handle.drop()
	s.unlock()
	return nil
}

// connection returns the connection for writing, after it reopened a database that had become
// unusable. The caller holds write.
func (s *Store) connection(ctx context.Context, op string) (*engine.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), "", err)
	}
	switch s.handle.state() {
	case closed:
		return nil, fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	case broken:
		return s.reopen(ctx, op)
	case working:
	}
	return s.writer, nil
}

// reopen closes a database that has become unusable, and opens it again.
func (s *Store) reopen(ctx context.Context, op string) (*engine.Conn, error) {
	if !s.handle.idle() {
		return nil, fault.E(op, fault.Unavailable, s.options.Dir, errBroken)
	}
	if s.writer != nil {
		s.writer.Close()
		s.writer = nil
	}
	s.handle.drop()
	if err := s.start(ctx); err != nil {
		return nil, s.fail(op, s.options.Dir, err)
	}
	s.options.Log.InfoContext(ctx, "store reopened", "dir", s.options.Dir)
	return s.writer, nil
}

// borrow returns a connection for reading; giveBack must follow.
func (s *Store) borrow(ctx context.Context, op string) (*engine.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), "", err)
	}
	c, state, err := s.handle.take()
	if state == broken {
		if err := s.revive(ctx, op); err != nil {
			return nil, err
		}
		c, state, err = s.handle.take()
	}
	switch {
	case state == closed:
		return nil, fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	case state == broken:
		return nil, fault.E(op, fault.Unavailable, s.options.Dir, errBroken)
	case err != nil:
		return nil, s.fail(op, s.options.Dir, err)
	}
	return c, nil
}

func (s *Store) revive(ctx context.Context, op string) error {
	s.write.Lock()
	defer s.write.Unlock()
	_, err := s.connection(ctx, op)
	return err
}

func (s *Store) giveBack(c *engine.Conn) { s.handle.give(c) }

// loadCounters reads the counters.
func loadCounters(ctx context.Context, c *engine.Conn) (n counters, err error) {
	err = c.Query(ctx, "SELECT replaced, expired, coalesce(overwritten, 0) FROM counters", func(ch *engine.Chunk) error {
		n = counters{engine.Numbers[uint64](ch, 0)[0], engine.Numbers[uint64](ch, 1)[0], engine.Numbers[uint64](ch, 2)[0]}
		return nil
	})
	return n, err
}

// saveCounters writes them, within the connection's transaction.
func saveCounters(ctx context.Context, c *engine.Conn, n counters) error {
	return c.Exec(ctx, "UPDATE counters SET replaced = $1, expired = $2, overwritten = $3", n.replaced, n.expired, n.overwritten)
}

// now is when something was noticed.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
