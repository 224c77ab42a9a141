package handle

import (
	"sync"

	"voltbus/store/duckdb/engine"
)

// state is the state of the database.
type state uint8

const (
	working state = iota
	broken        // the database must be closed and reopened
	closed        // for good
)

// lender owns the open database and lends its reading connections.
type lender struct {
	mu    sync.Mutex
	idled sync.Cond // users became 0
	now   state
	db    *engine.DB
	spare []*engine.Conn
	users int
}

// keepSpare is how many unused connections are kept open.
const keepSpare = 4

// use sets the database whose connections take lends.
func (l *lender) use(db *engine.DB) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.db, l.now = db, working
}

// take lends a connection, or returns why it cannot.
func (l *lender) take() (*engine.Conn, state, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now != working {
		return nil, l.now, nil
	}
	if n := len(l.spare); n > 0 {
		c := l.spare[n-1]
		l.spare = l.spare[:n-1]
		l.users++
		return c, working, nil
	}
	c, err := l.db.Connect()
	if err == nil {
		l.users++
	}
	return c, working, err
}

// give takes a connection back.
func (l *lender) give(c *engine.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == working && len(l.spare) < keepSpare {
		l.spare = append(l.spare, c)
	} else {
		c.Close()
	}
	l.users--
	if l.users == 0 {
		l.idled.Broadcast()
	}
}

// spoil marks the database as unusable until it is reopened.
func (l *lender) spoil() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == working {
		l.now = broken
	}
}

func (l *lender) state() state {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// idle reports whether no connection is lent.
func (l *lender) idle() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.users == 0
}

// close ends lending and waits for lent connections. It returns false if already called.
func (l *lender) close() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now == closed {
		return false
	}
	l.now = closed
	for l.users > 0 {
		l.idled.Wait()
	}
	return true
}

// drop closes the database. No connection is lent.
func (l *lender) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.spare {
		c.Close()
	}
	l.spare = nil
	if l.db != nil {
		l.db.Close()
		l.db = nil
	}
}
