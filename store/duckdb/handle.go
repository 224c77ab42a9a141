package duckdb

import (
	"sync"

	"voltbus/store/duckdb/engine"
)

// state is what can be done with a handle.
type state uint8

const (
	working state = iota
	broken        // the database must be closed and opened again
	closed        // for good
)

// handle owns the open database and lends its reading connections.
type handle struct {
	mu    sync.Mutex
	idled sync.Cond // users became 0
	now   state
	db    *engine.DB
	spare []*engine.Conn
	users int
}

// keepSpare is how many unused connections are kept open.
const keepSpare = 4

// use makes the database the one that take lends connections of.
func (h *handle) use(db *engine.DB) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.db, h.now = db, working
}

// take lends a connection, or says why not.
func (h *handle) take() (*engine.Conn, state, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now != working {
		return nil, h.now, nil
	}
	if n := len(h.spare); n > 0 {
		c := h.spare[n-1]
		h.spare = h.spare[:n-1]
		h.users++
		return c, working, nil
	}
	c, err := h.db.Connect()
	if err == nil {
		h.users++
	}
	return c, working, err
}

// give takes a connection back.
func (h *handle) give(c *engine.Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == working && len(h.spare) < keepSpare {
		h.spare = append(h.spare, c)
	} else {
		c.Close()
	}
	h.users--
	if h.users == 0 {
		h.idled.Broadcast()
	}
}

// spoil says that the database is unusable until it is opened again.
func (h *handle) spoil() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == working {
		h.now = broken
	}
}

func (h *handle) state() state {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.now
}

// idle reports whether no connection is lent.
func (h *handle) idle() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.users == 0
}

// close ends lending and waits for the lent connections. It returns false if it was called before.
func (h *handle) close() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.now == closed {
		return false
	}
	h.now = closed
	for h.users > 0 {
		h.idled.Wait()
	}
	return true
}

// drop closes the database. No connection is lent.
func (h *handle) drop() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.spare {
		c.Close()
	}
	h.spare = nil
	if h.db != nil {
		h.db.Close()
		h.db = nil
	}
}
