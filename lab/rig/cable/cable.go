// Package cable is a connection between two nodes of the lab that can be pulled.
package cable

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"

	"voltbus/fault"
	"voltbus/internal/relay"
)

// Cable is a connection between two nodes that can be pulled, and that counts what goes over it.
// Its methods are safe for concurrent use.
type Cable struct {
	relay    *relay.Relay
	to       string
	up, down atomic.Int64
	ways     [2]way // up and down

	mu    sync.Mutex
	grade Grade
}

// New makes a cable to an address, which is pulled. Close it.
func New(to string) (c *Cable, err error) {
	c = &Cable{to: to}
	if c.relay, err = relay.Open("", c.carry); err != nil {
		return nil, fault.E("cable.New", fault.Unavailable, to, err)
	}
	return c, nil
}

// Addr is where the near end is.
func (c *Cable) Addr() string { return c.relay.Addr() }

// Plug lets connections be made.
func (c *Cable) Plug() { c.relay.Lead(c.to) }

// Pull ends all connections and lets none be made.
func (c *Cable) Pull() {
	c.relay.Lead("")
	c.relay.Cut()
}

// Bytes returns how many bytes went up and down.
func (c *Cable) Bytes() (up, down int64) { return c.up.Load(), c.down.Load() }

// Close ends all.
func (c *Cable) Close() error { return c.relay.Close() }

// carry serves one connection.
func (c *Cable) carry(_ context.Context, near, far net.Conn) {
	var back sync.WaitGroup
	back.Go(func() {
		c.pass(near, counted{far, &c.down}, &c.ways[1])
		_ = near.Close()
	})
	c.pass(far, counted{near, &c.up}, &c.ways[0])
	_ = far.Close()
	back.Wait()
}

// counted counts what is read.
type counted struct {
	io.Reader
	n *atomic.Int64
}

func (r counted) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n.Add(int64(n))
	return n, err
}
