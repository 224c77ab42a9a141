// Package relay gives a TCP server another address on loopback, whose connections can be cut, or redirected.
package relay

import (
	"context"
	"fmt"
	"net"
	"sync"
)

// Carry copies the bytes of one connection between both ends, until it or ctx ends. Then both ends are closed.
type Carry func(ctx context.Context, near, far net.Conn)

// Relay is an address that forwards to another one. It is safe for concurrent use.
type Relay struct {
	listener net.Listener
	carry    Carry
	running  sync.WaitGroup

	mu     sync.Mutex
	to     string
	cuts   int // so far
	made   int
	closed bool
	open   map[net.Conn]func() // by the near end: functions that end them
}

// Open listens, and forwards connections to an address; "" for nowhere. Close ends it.
func Open(to string, carry Carry) (*Relay, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with Close
	if err != nil {
		return nil, fmt.Errorf("listen before %q: %w", to, err)
	}
	r := &Relay{listener: listener, carry: carry, to: to, open: map[net.Conn]func(){}}
	r.running.Go(r.accept)
	return r, nil
}

// Addr is where connections are accepted.
func (r *Relay) Addr() string { return r.listener.Addr().String() }

// Lead sets the destination of new connections; with "" they end at once. Open ones stay.
func (r *Relay) Lead(to string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.to = to
}

// Made returns how many connections reached the other end so far.
func (r *Relay) Made() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.made
}

// Cut ends all connections, including those being established. New ones can be established at once.
func (r *Relay) Cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cuts++
	for _, end := range r.open {
		end()
	}
}

// Close ends all, and waits for every connection. It may be called twice.
func (r *Relay) Close() error {
	r.mu.Lock()
	closed := r.closed
	r.closed = true
	r.mu.Unlock()
	var err error
	if !closed {
		err = r.listener.Close()
	}
	r.Cut()
	r.running.Wait()
	return err
}

func (r *Relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		r.running.Go(func() { r.serve(near) })
	}
}

func (r *Relay) serve(near net.Conn) {
	defer near.Close()
	r.mu.Lock()
	to, cuts := r.to, r.cuts
	r.mu.Unlock()
	if to == "" {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	far, err := new(net.Dialer).DialContext(ctx, "tcp", to)
	if err != nil {
		return
	}
	defer far.Close()
	end := func() {
		cancel()
		_ = near.Close() // wakes the reader
		_ = far.Close()
	}
	if r.hold(near, end, cuts) {
		defer r.drop(near)
		r.carry(ctx, near, far)
	}
}

// hold records a connection; false if it was cut while being established.
func (r *Relay) hold(near net.Conn, end func(), cuts int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || r.cuts != cuts {
		return false
	}
	r.made++
	r.open[near] = end
	return true
}

func (r *Relay) drop(near net.Conn) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, near)
}
