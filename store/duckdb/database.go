package duckdb

import (
	"context"
	"sync"

	"voltbus/fault"
	"voltbus/store/duckdb/engine"
)

// database is the open database: it is opened again where it had become unusable, and lends connections for reading.
type database struct {
	options Options
	unlock  func()                                    // gives the directory free
	load    func(context.Context, *engine.Conn) error // reads the state after each opening

	write  sync.Mutex   // held by whoever changes the database
	writer *engine.Conn // belongs to the holder of write
	handle handle
}

// start opens the database and reads its state. The caller holds write.
func (s *database) start(ctx context.Context) error {
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

// connection returns the connection for writing, after it reopened a database that had become
// unusable. The caller holds write.
func (s *database) connection(ctx context.Context, op string) (*engine.Conn, error) {
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
func (s *database) reopen(ctx context.Context, op string) (*engine.Conn, error) {
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
func (s *database) borrow(ctx context.Context, op string) (*engine.Conn, error) {
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

func (s *database) revive(ctx context.Context, op string) error {
	s.write.Lock()
	defer s.write.Unlock()
	_, err := s.connection(ctx, op)
	return err
}

func (s *database) giveBack(c *engine.Conn) { s.handle.give(c) }

// usable returns the error for a call that comes after Close or with an ended context.
func (s *database) usable(ctx context.Context, op string) error {
	if err := ctx.Err(); err != nil {
		return fault.E(op, fault.KindOf(err), "", err)
	}
	if s.handle.state() == closed {
		return fault.E(op, fault.Unavailable, s.options.Dir, errClosed)
	}
	return nil
}

// alone lends a connection to a database of its own, in memory and with one thread: with more of
// them DuckDB collects whatever is out of order, up to all the memory that the store may use.
func (s *database) alone(use func(*engine.Conn) error) error {
	settings := s.options.settings()
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

// copyAlone runs a statement about files in a database of its own.
func (s *database) copyAlone(ctx context.Context, statement string, each func(*engine.Chunk) error) error {
	return s.alone(func(c *engine.Conn) error { return c.Query(ctx, statement, each) })
}
