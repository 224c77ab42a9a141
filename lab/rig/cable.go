package rig

import (
	"io"
	"net"
	"sync"
	"sync/atomic"

	"voltbus/fault"
)

// Cable is a connection between two nodes that can be pulled, and that counts what goes over it.
// Its methods are safe for concurrent use.
type Cable struct {
	listener net.Listener
	to       string
	up, down atomic.Int64
	running  sync.WaitGroup

	mu      sync.Mutex
	plugged bool
	conns   map[net.Conn]bool
}

// NewCable makes a cable to an address, which is pulled. Close it.
func NewCable(to string) (*Cable, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with Close
	if err != nil {
		return nil, fault.E("rig.NewCable", fault.Unavailable, to, err)
	}
	c := &Cable{listener: l, to: to, conns: map[net.Conn]bool{}}
	c.running.Go(c.accept)
	return c, nil
}

// Addr is where the near end is.
func (c *Cable) Addr() string { return c.listener.Addr().String() }

// Plug lets connections be made.
func (c *Cable) Plug() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plugged = true
}

// Pull ends all connections and lets none be made.
func (c *Cable) Pull() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plugged = false
	for conn := range c.conns {
		_ = conn.Close() // wakes who reads
	}
}

// Bytes returns how many bytes went up and down.
func (c *Cable) Bytes() (up, down int64) { return c.up.Load(), c.down.Load() }

// Close ends all.
func (c *Cable) Close() error {
	err := c.listener.Close()
	c.Pull()
	c.running.Wait()
	return err
}

func (c *Cable) accept() {
	for {
		near, err := c.listener.Accept()
		if err != nil {
			return
		}
		c.running.Go(func() { c.serve(near) })
	}
}

func (c *Cable) serve(near net.Conn) {
	defer near.Close()
	if !c.hold(near) {
		return
	}
	defer c.drop(near)
	far, err := net.Dial("tcp", c.to) //nolint:noctx // loopback
	if err != nil {
		return
	}
	defer far.Close()
	if !c.hold(far) {
		return
	}
	defer c.drop(far)
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(near, counted{far, &c.down}) // ends with the connection
		_ = near.Close()
	})
	_, _ = io.Copy(far, counted{near, &c.up})
	_ = far.Close()
	back.Wait()
}

// hold notes a connection; false if the cable is pulled.
func (c *Cable) hold(conn net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.plugged {
		c.conns[conn] = true
	}
	return c.plugged
}

func (c *Cable) drop(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.conns, conn)
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
