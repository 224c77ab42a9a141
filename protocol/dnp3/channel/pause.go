package channel

// halt is a pause of a connection: incoming data stays in the stream. The ports may send, and timers run.
type halt struct {
	over  chan struct{} // closed when it ends
	kicks chan struct{} // something is due while the reader waits for the end
}

// kick makes a waiting reader serve what is due.
func (h *halt) kick() {
	if h == nil {
		return
	}
	select {
	case h.kicks <- struct{}{}:
	default:
	}
}

// hold begins a pause: when it returns, no more incoming data is handled.
func (c *conn) hold() {
	if c.halted.Load() != nil {
		return
	}
	h := &halt{over: make(chan struct{}), kicks: make(chan struct{}, 1)}
	if c.stream.polled != nil {
		c.stream.polled.hold(true) // a worker must not wait for the end of the pause
	}
	c.mu.Lock()
	c.halted.Store(h)
	c.mu.Unlock()
	c.drive()
}

// unhold ends a pause.
func (c *conn) unhold() {
	h := c.halted.Swap(nil)
	if h == nil {
		return
	}
	close(h.over)
	if c.stream.polled != nil {
		c.stream.polled.hold(false)
	}
}

// enter locks mu to handle what arrived, when the connection is not paused. It returns false, without the lock, if the
// connection ends during a pause: what was not handled then never is.
func (c *conn) enter() bool {
	for {
		c.mu.Lock()
		h := c.halted.Load()
		if h == nil {
			return true
		}
		c.mu.Unlock()
		c.drive()
		select {
		case <-h.over:
		case <-h.kicks:
		case <-c.stream.shutting:
			return false
		}
	}
}
