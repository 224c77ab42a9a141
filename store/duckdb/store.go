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

	"voltbus/store"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

var (
	errClosed  = errors.New("the store is closed")
	errBroken  = errors.New("the store met an error that it recovers from by itself; try again")
	errVersion = errors.New("the history has a layout that this program does not know")
)

// Store implements store.Store, store.SQL and store.Exporter. It is safe for concurrent use.
//
// Its parts share a database and an index. Locks are taken in this order: running of upkeep, write of database, mu of
// index.
type Store struct {
	*database
	*index
	*appends
	*queries
	*exporter
	*statements
	*upkeep
}

// index is what is known of the database in memory.
type index struct {
	mu       sync.RWMutex // guards what follows; never held during a statement. Who changes it holds write, too
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
	s := assemble(o, unlock)
	s.write.Lock()
	defer s.write.Unlock()
	if err := s.openDamaged(ctx); err != nil {
		unlock()
		return nil, err
	}
	return s, nil
}

// assemble makes the parts of a store, which is not open yet.
func assemble(o Options, unlock func()) *Store {
	db, known := &database{options: o, unlock: unlock}, &index{}
	db.handle.idled.L = &db.handle.mu
	files := &dayFiles{database: db, index: known}
	memory, saved := &scratch{words: make(map[store.Day]sample.Words)}, snapshot.New(o.Dir, o.Log)
	care := &upkeep{database: db, index: known, dayFiles: files, seen: make(map[store.Day]quiet), scratch: memory, saved: saved}
	s := &Store{
		database: db, index: known, upkeep: care,
		appends:    &appends{database: db, index: known, scratch: memory, saved: saved},
		queries:    &queries{database: db, index: known, dayFiles: files, upkeep: care},
		exporter:   &exporter{database: db, index: known, dayFiles: files},
		statements: &statements{database: db, index: known, dayFiles: files},
	}
	db.load = s.load
	return s
}

// load reads the state of the database, heals it, and makes it the store's.
func (s *Store) load(ctx context.Context, c *engine.Conn) error {
	if err := lockDown(ctx, c, s.options.Dir); err != nil {
		return err
	}
	if err := prepareSchema(ctx, c); err != nil {
		return err
	}
	if err := (&healer{s.database, s.upkeep.saved}).heal(ctx, c); err != nil {
		return err
	}
	if err := s.clearPieces(); err != nil {
		return err
	}
	days, err := loadDays(ctx, c)
	if err != nil {
		return err
	}
	cat, err := loadCatalogue(ctx, c, days, s.upkeep.saved)
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
	clear(s.upkeep.scratch.words)
	return nil
}

// Close waits for the calls in progress and closes the store. Further calls of Close do nothing.
func (s *Store) Close() error {
	s.running.Lock()
	defer s.running.Unlock()
	s.write.Lock()
	defer s.write.Unlock()
	if !s.handle.close() {
		return nil
	}
	if s.writer != nil {
		if days := places(s.days); s.upkeep.saved.Unsaved() || s.upkeep.saved.Stale(days) {
			s.upkeep.saved.Save(context.Background(), s.writer, &s.cat.last, days)
		}
		s.release(context.Background(), s.writer)
		s.writer.Close()
		s.writer = nil
	}
	s.handle.drop()
	s.unlock()
	return nil
}

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
