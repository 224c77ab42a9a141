package channel

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// Why a connection was closed from this side.
var (
	// ErrDead says that no peer on a connection answers, not even a request for its link status.
	ErrDead = errors.New("the peer does not answer a request for its link status")

	errUnknown = errors.New("no station that is known here spoke on the connection")
)

// conn drives ports over one stream. State machines are touched only under mu. One goroutine reads; writes
// are made by the holder of mu that has something to send.
//
// A member that needs attention while mu is held (a handler submits a request, a timer fires) is noted, and
// the holder serves it before releasing mu: no goroutine waits for mu while holding another one, so that
// stations of one program may call each other.
type conn struct {
	hub    *Hub
	stream stream
	done   chan struct{} // closed when the ports are free

	mu      sync.Mutex
	mux     station.Mux
	members members
	err     error  // why the connection was given up
	closed  bool   // the ports may belong to another connection
	wanted  *claim // ports that other connections hold

	drained alarm     // see socketReader.step
	heard   time.Time // when something arrived; belongs to the reader
	halted  atomic.Pointer[halt]
	unnamed *unnamed // nil if it may stay without a port

	attention attention
}

// claim collects frames for ports that other connections hold, until these release them.
type claim struct {
	holders []*conn
	frames  []byte
}

func newConn(h *Hub, opened io.ReadWriteCloser) *conn {
	c := &conn{hub: h, done: make(chan struct{})}
	c.mux.Handled = func(p *station.Port) { c.members.of(p).schedule() }
	c.drained.ring = func() { c.stream.interrupt() }
	c.stream.open(c, opened)
	return c
}

// add puts a port on the connection.
func (c *conn) add(p *station.Port) error {
	if err := c.mux.Add(p); err != nil {
		return err
	}
	m := &member{conn: c, port: p}
	m.alarm.ring = m.ring
	c.members.add(m)
	p.Machine().SetWake(m.wake)
	return nil
}

// attach puts a port on a connection that may be served already, and opens it.
func (c *conn) attach(p *station.Port) error {
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return net.ErrClosed
	}
	err := c.add(p)
	if err == nil {
		out := c.hub.fragments.Output()
		p.Open(time.Now(), out)
		c.members.of(p).schedule()
		c.write(out)
	}
	c.mu.Unlock()
	c.drive()
	return err
}

// detach removes a port after it has sent its pending data.
func (c *conn) detach(p *station.Port) {
	c.mu.Lock()
	if !c.closed && p.Opened() {
		out := c.hub.fragments.Output()
		now := time.Now()
		p.Tick(now, out)
		c.write(out)
		c.remove(p, now)
	}
	c.mu.Unlock()
	c.drive()
}

// remove closes a port that is on the connection, and removes it.
func (c *conn) remove(p *station.Port, now time.Time) {
	m := c.members.of(p)
	m.gone = true
	p.Machine().SetWake(nil)
	c.hub.wheel.drop(&m.alarm)
	c.mux.Remove(p)
	p.Close(now, c.hub.fragments)
	c.members.remove(m)
	if c.members.none() && c.unnamed != nil {
		c.hub.wheel.set(&c.unnamed.alarm, c.unnamed.until)
	}
}

// open opens the ports that are on the connection from the start.
func (c *conn) open() {
	c.mu.Lock()
	out := c.hub.fragments.Output()
	c.mux.Open(time.Now(), out)
	for _, p := range c.mux.Ports() {
		c.members.of(p).schedule()
	}
	c.write(out)
	c.mu.Unlock()
	c.drive()
}

// serve opens the ports, reads until the stream ends or is closed, releases the ports, and returns why the
// stream ended. opened and released are called in between.
func (c *conn) serve(opened, released func()) error {
	defer close(c.done)
	defer released()
	defer c.close()
	c.open()
	opened()
	return c.read()
}

// close releases the ports.
func (c *conn) close() {
	c.stream.shut()
	if c.stream.socket != nil {
		_ = c.stream.Close()
		c.hub.wheel.drop(&c.drained)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.unnamed != nil {
		c.hub.wheel.drop(&c.unnamed.alarm)
	}
	if c.stream.polled != nil {
		_ = c.stream.Close()
	}
	for _, p := range c.mux.Ports() {
		p.Machine().SetWake(nil)
		c.hub.wheel.drop(&c.members.of(p).alarm)
	}
	c.mux.Close(time.Now(), c.hub.fragments)
}

// receive handles received octets and returns how many it has processed, and the ports that other connections
// must release first.
func (c *conn) receive(octets []byte) (int, *claim) {
	if !c.enter() {
		return len(octets), nil
	}
	out := c.hub.fragments.Output()
	now := time.Now()
	c.heard = now
	n := c.mux.Receive(now, octets, out)
	c.write(out)
	wanted := c.wanted
	c.wanted = nil
	c.mu.Unlock()
	c.drive()
	return n, wanted
}

// takeOver waits until other connections release ports addressed by peers on this one, and handles the frames
// waiting for that.
func (c *conn) takeOver(w *claim) {
	for w != nil {
		for _, holder := range w.holders {
			holder.stream.shut()
			select {
			case <-holder.done:
			case <-c.stream.shutting:
				return
			}
		}
		_, w = c.receive(w.frames)
	}
}

// claimFrom records a frame for a port that another connection holds.
func (c *conn) claimFrom(holder *conn, f link.Frame) {
	if c.wanted == nil {
		c.wanted = &claim{}
	}
	c.wanted.holders = append(c.wanted.holders, holder)
	if frames, err := link.AppendFrame(c.wanted.frames, f.Header, f.Payload); err == nil {
		c.wanted.frames = frames
	}
}

// write sends the output of a step, and gives the connection up if that fails.
func (c *conn) write(out *station.Output) {
	c.send(out.Wire())
	c.hub.fragments.Release(out)
}

// send writes octets, unless the connection is given up.
func (c *conn) send(wire []byte) {
	if len(wire) == 0 || c.err != nil {
		return
	}
	if err := c.stream.send(wire); err != nil {
		c.fail(err)
	}
}

// fail gives the connection up.
func (c *conn) fail(err error) {
	c.err = err
	c.stream.shut()
}

// nudge serves the members that need attention for a caller that must not be blocked by a stuck write: it
// leaves the work to the reader if possible.
func (c *conn) nudge() {
	c.halted.Load().kick()
	if !c.stream.interrupt() {
		c.drive()
	}
}

// drive serves the members that need attention, unless another goroutine does.
func (c *conn) drive() {
	for c.attention.pending.Load() && c.mu.TryLock() {
		c.attention.pending.Store(false)
		out := c.hub.fragments.Output()
		now := time.Now()
		for m := c.attention.take(); m != nil; m = c.attention.take() {
			if c.closed || m.gone {
				continue
			}
			m.port.Tick(now, out)
			m.schedule()
		}
		c.write(out)
		if !c.closed && c.err == nil { // once closed, its ports may be on the next connection
			c.judge(now)
		}
		c.mu.Unlock()
	}
}

// judge gives the connection up if no peer answers, or no known one.
func (c *conn) judge(now time.Time) {
	switch {
	case dead(&c.mux):
		c.fail(ErrDead)
	case c.members.none() && c.unnamed != nil && !now.Before(c.unnamed.until):
		c.fail(errUnknown)
	}
}

// unnamed bounds how long a connection may remain unidentified.
type unnamed struct {
	until time.Time
	alarm alarm
}

// name sets that bound, before the connection is served.
func (c *conn) name(within time.Duration) {
	if within <= 0 {
		return
	}
	c.unnamed = &unnamed{until: time.Now().Add(within)}
	c.unnamed.alarm.ring = func() {
		c.attention.pending.Store(true)
		c.nudge()
	}
	c.hub.wheel.set(&c.unnamed.alarm, c.unnamed.until)
}

// dead reports whether there are ports, and none of them still receives from its peer.
func dead(mux *station.Mux) bool {
	for _, p := range mux.Ports() {
		if !p.Dead() {
			return false
		}
	}
	return len(mux.Ports()) > 0
}

// readError returns why reading ended: the actual cause, if known.
func (c *conn) readError(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return err
}
