// Package handle keeps the database of a store open: it locks the directory, reopens the database when it has become unusable, lends
// connections for reading, and classifies DuckDB's errors.
package handle

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

// Config tells where a database is, and how DuckDB opens it.
type Config struct {
	Dir      string                                    // the directory of the store, which is locked
	Settings map[string]string                         // of DuckDB
	Load     func(context.Context, *engine.Conn) error // reads the state after each opening
	Log      *slog.Logger
}

var (
	errClosed = errors.New("the store is closed")
	errBroken = errors.New("the store met an error that it recovers from by itself; try again")
)

// Handle is the open database of a store. It reopens the database if it has become unusable, and lends connections for reading. It is
// safe for concurrent use.
type Handle struct {
	config Config
	unlock func() // releases the directory

	Write  sync.Mutex   // held by whichever goroutine changes the database
	writer *engine.Conn // belongs to the holder of Write
	lender lender
}

// Lock locks the directory of a store for this process, and returns the handle of the database there, which is not open yet.
func Lock(c Config) (*Handle, error) {
	unlock, err := lockDirectory(c.Dir)
	if err != nil {
		return nil, err
	}
	s := &Handle{config: c, unlock: unlock}
	s.lender.idled.L = &s.lender.mu
	return s, nil
}

// Unlock releases the directory, if the database could not be opened.
func (s *Handle) Unlock() { s.unlock() }

// File returns the name of the file of the database.
func (s *Handle) File() string { return filepath.Join(s.config.Dir, "history.duckdb") }

// Writer returns the connection for writing, nil if the database is not open. The caller holds Write.
func (s *Handle) Writer() *engine.Conn { return s.writer }

// StopLending ends lending and waits for lent connections. It returns false if already called.
func (s *Handle) StopLending() bool { return s.lender.close() }

// Close closes the database after StopLending, and releases the directory. The caller holds Write.
func (s *Handle) Close() {
	if s.writer != nil {
		s.writer.Close()
		s.writer = nil
	}
	s.lender.drop()
	s.unlock()
}

// Start opens the database and reads its state. The caller holds Write.
func (s *Handle) Start(ctx context.Context) error {
	db, err := engine.Open(s.File(), s.config.Settings)
	if err != nil {
		return err
	}
	c, err := db.Connect()
	if err != nil {
		db.Close()
		return err
	}
	if err := s.config.Load(ctx, c); err != nil {
		c.Close()
		db.Close()
		return err
	}
	s.writer = c
	s.lender.use(db)
	return nil
}

// Connection returns the connection for writing, after reopening a database that had become unusable. The
// caller holds Write.
func (s *Handle) Connection(ctx context.Context, op string) (*engine.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), "", err)
	}
	switch s.lender.state() {
	case closed:
		return nil, fault.E(op, fault.Unavailable, s.config.Dir, errClosed)
	case broken:
		return s.reopen(ctx, op)
	case working:
	}
	return s.writer, nil
}

// reopen closes a database that has become unusable, and opens it again.
func (s *Handle) reopen(ctx context.Context, op string) (*engine.Conn, error) {
	if !s.lender.idle() {
		return nil, fault.E(op, fault.Unavailable, s.config.Dir, errBroken)
	}
	if s.writer != nil {
		s.writer.Close()
		s.writer = nil
	}
	s.lender.drop()
	if err := s.Start(ctx); err != nil {
		return nil, s.Fail(op, s.config.Dir, err)
	}
	s.config.Log.InfoContext(ctx, "store reopened", "dir", s.config.Dir)
	return s.writer, nil
}

// Borrow returns a connection for reading; giveBack must follow.
func (s *Handle) Borrow(ctx context.Context, op string) (*engine.Conn, error) {
	if err := ctx.Err(); err != nil {
		return nil, fault.E(op, fault.KindOf(err), "", err)
	}
	c, state, err := s.lender.take()
	if state == broken {
		if err := s.revive(ctx, op); err != nil {
			return nil, err
		}
		c, state, err = s.lender.take()
	}
	switch {
	case state == closed:
		return nil, fault.E(op, fault.Unavailable, s.config.Dir, errClosed)
	case state == broken:
		return nil, fault.E(op, fault.Unavailable, s.config.Dir, errBroken)
	case err != nil:
		return nil, s.Fail(op, s.config.Dir, err)
	}
	return c, nil
}

func (s *Handle) revive(ctx context.Context, op string) error {
	s.Write.Lock()
	defer s.Write.Unlock()
	_, err := s.Connection(ctx, op)
	return err
}

// GiveBack returns a borrowed connection.
func (s *Handle) GiveBack(c *engine.Conn) { s.lender.give(c) }

// Usable returns the error for a call that comes after Close or with an ended context.
func (s *Handle) Usable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	if s.lender.state() == closed {
		return fault.E(op, fault.Unavailable, s.config.Dir, errClosed)
	}
	return nil
}

// Alone lends a connection to a separate database, in memory and with one thread: with several threads DuckDB
// buffers everything that is out of order, up to all the memory that the store may use.
func (s *Handle) Alone(use func(*engine.Conn) error) error {
	settings := maps.Clone(s.config.Settings)
	settings["threads"] = "1"
	db, err := engine.Open("", settings)
	if err != nil {
		return err
	}
	defer db.Close()
	c, err := db.Connect()
	if err != nil {
		return err
	}
	defer c.Close()
	return use(c)
}
