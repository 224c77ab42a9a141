package enrol

import (
	"context"
	"errors"
	"sync"
	"time"

	"voltbus/fault"
)

// Asker sends a request to the parent over an existing connection. It fails as calls on the bus do.
type Asker func(ctx context.Context, method string, body []byte) ([]byte, error)

// Connection is the connection for requests to the parent, while there is one. It is safe for concurrent use.
type Connection struct {
	mu      sync.Mutex
	ask     *Asker        // nil if there is none
	arrived chan struct{} // closed at the next Attach
}

// Attach sets the connection for requests to the parent, until detach is called. The last one counts.
func (c *Connection) Attach(ask Asker) (detach func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	mine := &ask
	c.ask = mine
	close(c.arrived)
	c.arrived = make(chan struct{})
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.ask == mine {
			c.ask = nil
		}
	}
}

// ErrDetached means that there is no connection to the parent.
var ErrDetached = errors.New("this node is not connected to its parent")

// Ask sends a request to the parent over the present connection; fault.Unreachable, at once, if there is
// none.
func (c *Connection) Ask(ctx context.Context, method string, body []byte) ([]byte, error) {
	ask := c.attached()
	if ask == nil {
		return nil, fault.E("enrol.Ask", fault.Unreachable, method, ErrDetached)
	}
	return ask(ctx, method, body)
}

// attached returns the connection, or nil.
func (c *Connection) attached() Asker {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ask == nil {
		return nil
	}
	return *c.ask
}

// state reports whether there is a connection; arrived is closed when the next one comes.
func (c *Connection) state() (there bool, arrived <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ask != nil, c.arrived
}

// attachTime is how long to wait for a connection that may be in progress.
const attachTime = 8 * time.Second

// await waits briefly for a connection; false if none comes.
func (c *Connection) await(ctx context.Context) bool {
	there, arrived := c.state()
	if there {
		return true
	}
	late := time.NewTimer(attachTime)
	defer late.Stop()
	select {
	case <-arrived:
		return true
	case <-late.C:
	case <-ctx.Done():
	}
	return false
}
