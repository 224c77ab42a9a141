// Package duckdb is the default store: DuckDB tables for the days that are still open, one sorted
// Parquet file for each closed day, and a manifest of both in the same transactions as the
// samples. Other programs may read the files while the store is open. The layout on disk is
// documented in docs/formats/store.md.
package duckdb

import (
	"context"
	"path/filepath"
	"sync"
	"time"

	"voltbus/store"
	"voltbus/store/duckdb/catalogue"
	"voltbus/store/duckdb/day"
	"voltbus/store/duckdb/engine"
	"voltbus/store/duckdb/handle"
	"voltbus/store/duckdb/manifest"
	"voltbus/store/duckdb/piece"
	"voltbus/store/duckdb/recovery"
	"voltbus/store/duckdb/sample"
	"voltbus/store/duckdb/snapshot"
)

// Store implements store.Store, store.SQL and store.Exporter. It is safe for concurrent use.
//
// Its parts share a database and an index. Locks are taken in this order: running of upkeep, write of database, mu of
// index.
type Store struct {
	db    *database
	known *index

	*appends
	*queries
	*exporter
	*statements
	*upkeep
}

// index is the in-memory state of the database.
type index struct {
	mu       sync.RWMutex // guards the fields below; never held during a statement. Changes also require write
	ledger   *store.Ledger
	cat      *catalogue.Catalogue
	days     map[store.Day]*day.Day
	epoch    *epoch
	retired  []*epoch
	counters manifest.Counters
}

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
		o.Dir = dir // the process of a statement has its own working directory
	}
	s := &Store{}
	opened, err := handle.Lock(handle.Config{Dir: o.Dir, Settings: o.settings(), Load: s.load, Log: o.Log})
	if err != nil {
		return nil, err
	}
	s.assemble(&database{Handle: opened, options: o})
	s.db.Write.Lock()
	defer s.db.Write.Unlock()
	if err := s.db.openDamaged(ctx); err != nil {
		s.db.Unlock()
		return nil, err
	}
	return s, nil
}

// assemble creates the parts of a store that is not open yet.
func (s *Store) assemble(db *database) {
	known := &index{}
	files := day.NewFiles(filepath.Join(db.options.Dir, "days"), known.hasText)
	memory, saved := &scratch{words: make(map[store.Day]sample.Words)}, snapshot.New(db.options.Dir, db.options.Log)
	care := &upkeep{database: db, index: known, Files: files, seen: make(map[store.Day]quiet), scratch: memory, saved: saved}
	s.db, s.known, s.upkeep = db, known, care
	s.appends = &appends{database: db, index: known, scratch: memory, saved: saved}
	s.queries = &queries{database: db, index: known, Files: files, upkeep: care}
	s.exporter = &exporter{database: db, index: known, Files: files}
	s.statements = &statements{database: db, index: known, Files: files, pieces: piece.New(filepath.Join(db.options.Dir, "tmp"))}
}

// load reads the state of the database, heals it, and installs it in the store.
func (s *Store) load(ctx context.Context, c *engine.Conn) error {
	if err := manifest.Confine(ctx, c, s.db.options.Dir); err != nil {
		return err
	}
	if err := manifest.Prepare(ctx, c); err != nil {
		return err
	}
	if err := recovery.Heal(ctx, c, s.db.dayFile(""), s.upkeep.saved); err != nil {
		return err
	}
	if err := s.pieces.Clear(); err != nil {
		return err
	}
	days, err := day.Load(ctx, c)
	if err != nil {
		return err
	}
	cat, err := catalogue.Load(ctx, c, days, s.upkeep.saved)
	if err != nil {
		return err
	}
	positions, err := manifest.LoadPositions(ctx, c)
	if err != nil {
		return err
	}
	cursor, err := manifest.LoadCursor(ctx, c)
	if err != nil {
		return err
	}
	known, err := manifest.LoadCounters(ctx, c)
	if err != nil {
		return err
	}
	s.known.mu.Lock()
	defer s.known.mu.Unlock()
	s.known.ledger, s.known.cat, s.known.days = store.NewLedger(positions, cursor), cat, days
	s.known.counters = known
	s.known.epoch, s.known.retired = &epoch{}, nil
	clear(s.upkeep.scratch.words)
	return nil
}

// Close waits for the calls in progress and closes the store. Further calls of Close do nothing.
func (s *Store) Close() error {
	s.running.Lock()
	defer s.running.Unlock()
	s.db.Write.Lock()
	defer s.db.Write.Unlock()
	if !s.db.StopLending() {
		return nil
	}
	if c := s.db.Writer(); c != nil {
		if days := day.Places(s.known.days); s.upkeep.saved.Unsaved() || s.upkeep.saved.Stale(days) {
			s.upkeep.saved.Save(context.Background(), c, &s.known.cat.Last, days)
		}
		s.release(context.Background(), c)
	}
	s.db.Close()
	return nil
}

// now is the time at which something is noticed.
func now() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }
