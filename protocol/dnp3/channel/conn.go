package channel

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// writeTimeout is how long a write may be stuck before the connection is given up.
const writeTimeout = 10 * time.Second

// longAgo returns a deadline that has passed.
func longAgo() time.Time { return time.Unix(1, 0) }

// Why a connection was closed from this side.
var (
	// ErrDead says that no peer on a connection answers, not even a request for its link status.
	ErrDead = errors.New("the peer does not answer a request for its link status")

	errUnknown = errors.New("no station that is known here spoke on the connection")
)

// deadliner is a stream with deadlines.
type deadliner interface {
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// conn drives ports over one stream. State machines are touched only under mu. One
// goroutine reads; writes are made by whoever holds mu and has something to send.
//
// A member that wants attention while mu is held (a handler submits a request, a timer
// rings) is noted, and the holder sees to it before he lets go: nobody waits for mu
// while holding another one, so that stations of one program may call each other.
type conn struct {
	hub      *Hub
	stream   io.ReadWriteCloser
	polled   *polled         // the stream, if a worker serves it
	socket   syscall.RawConn // nil if the stream is no TCP socket with a reader of its own
	deadline deadliner       // nil if the stream has none
	shutting chan struct{}   // closed by shut
	ended    atomic.Bool     // set by shut
	once     sync.Once
	done     chan struct{} // closed when the ports are free

	mu      sync.Mutex
	mux     station.Mux
	first   *member                   // nil if there is no port
	others  map[*station.Port]*member // but the first
	writeBy time.Time                 // deadline of writes
	err     error                     // why the connection is given up
	closed  bool                      // the ports may belong to another connection
	wanted  *claim                    // ports that other connections hold

	drained alarm     // see listener.step
	heard   time.Time // when something arrived; belongs to the reader
	halted  atomic.Pointer[halt]
	unnamed *unnamed // nil if it may stay without a port

	pending atomic.Bool
	noted   sync.Mutex
	notes   []*member
}

// member is a port on a connection with its alarm.
type member struct {
	conn  *conn
	port  *station.Port
	alarm alarm
	noted bool // guarded by conn.noted
	gone  bool // the port was taken off; guarded by conn.mu
}

// claim collects frames for ports that other connections hold, until they let go.
type claim struct {
	holders []*conn
	frames  []byte
}

func newConn(h *Hub, stream io.ReadWriteCloser) *conn {
	c := &conn{hub: h, stream: stream, shutting: make(chan struct{}), done: make(chan struct{})}
	c.mux.Handled = func(p *station.Port) { c.schedule(c.member(p)) }
	tcp, isTCP := stream.(*net.TCPConn)
	if isTCP {
		if c.polled = newPolled(c, tcp); c.polled != nil {
			c.stream = c.polled
			return c
		}
	}
	c.deadline, _ = stream.(deadliner)
	if c.deadline != nil && c.deadline.SetReadDeadline(time.Time{}) != nil {
		c.deadline = nil // a file that cannot be polled
	}
	if isTCP && c.deadline != nil {
		if raw, err := tcp.SyscallConn(); err == nil {
			c.socket = raw
			c.drained.ring = func() { c.interrupt() }
		}
	}
	return c
}

// add puts a port on the connection.
func (c *conn) add(p *station.Port) error {
	if err := c.mux.Add(p); err != nil {
		return err
	}
	m := &member{conn: c, port: p}
	m.alarm.ring = m.ring
	if c.first == nil {
		c.first = m
	} else {
		if c.others == nil {
			c.others = make(map[*station.Port]*member)
		}
		c.others[p] = m
	}
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
		c.schedule(c.member(p))
		c.write(out)
	}
	c.mu.Unlock()
	c.drive()
	return err
}

// detach takes a port off, when it has sent what it still has to send.
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

// remove closes a port that is on the connection, and forgets it.
func (c *conn) remove(p *station.Port, now time.Time) {
	m := c.member(p)
	m.gone = true
	p.Machine().SetWake(nil)
	c.hub.wheel.drop(&m.alarm)
	c.mux.Remove(p)
	p.Close(now, c.hub.fragments)
	delete(c.others, p)
	if c.first == m {
		c.first = nil
		for other, next := range c.others {
			c.first = next
			delete(c.others, other)
			break
		}
	}
	if c.first == nil && c.unnamed != nil {
		c.hub.wheel.set(&c.unnamed.alarm, c.unnamed.until)
	}
}

// member returns the member of a port that is on the connection.
func (c *conn) member(p *station.Port) *member {
	if c.first.port == p {
		return c.first
	}
	return c.others[p]
}

// schedule sets the alarm of a member to its deadline.
func (c *conn) schedule(m *member) { c.hub.wheel.set(&m.alarm, m.port.Deadline()) }

// open opens the ports that are on the connection from the start.
func (c *conn) open() {
	c.mu.Lock()
	out := c.hub.fragments.Output()
	c.mux.Open(time.Now(), out)
	for _, p := range c.mux.Ports() {
		c.schedule(c.member(p))
	}
	c.write(out)
	c.mu.Unlock()
	c.drive()
}

// serve opens the ports, reads until the stream ends or is closed, lets go of the ports,
// and returns why the stream ended. opened and released are called in between.
func (c *conn) serve(opened, released func()) error {
	defer close(c.done)
	defer released()
	defer c.close()
	c.open()
	opened()
	return c.read()
}

// shut makes the reader end. It may be called by anyone, and waits for nobody: a socket
// is closed by its reader, because closing one waits until nobody uses it.
func (c *conn) shut() {
	c.once.Do(func() {
		c.ended.Store(true)
		close(c.shutting)
		if c.polled != nil {
			return
		}
		if c.socket == nil {
			_ = c.stream.Close()
			return
		}
		c.interrupt()
		_ = c.deadline.SetWriteDeadline(longAgo())
	})
}

// interrupt ends a read, so that the reader looks around, if the stream can do that.
func (c *conn) interrupt() bool {
	return c.deadline != nil && c.deadline.SetReadDeadline(longAgo()) == nil
}

// close lets go of the ports.
func (c *conn) close() {
	c.shut()
	if c.socket != nil {
		_ = c.stream.Close()
		c.hub.wheel.drop(&c.drained)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	if c.unnamed != nil {
		c.hub.wheel.drop(&c.unnamed.alarm)
	}
	if c.polled != nil {
		_ = c.stream.Close()
	}
	for _, p := range c.mux.Ports() {
		p.Machine().SetWake(nil)
		c.hub.wheel.drop(&c.member(p).alarm)
	}
	c.mux.Close(time.Now(), c.hub.fragments)
}

// receive handles what arrived and returns how many octets are done with, and the ports
// that other connections have to let go of first.
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

// takeOver waits until other connections let go of ports that peers on this one speak
// to, and handles the frames that waited for that.
func (c *conn) takeOver(w *claim) {
	for w != nil {
		for _, holder := range w.holders {
			holder.shut()
			select {
			case <-holder.done:
			case <-c.shutting:
				return
			}
		}
		_, w = c.receive(w.frames)
	}
}

// claimFrom notes a frame for a port that another connection holds.
func (c *conn) claimFrom(holder *conn, f link.Frame) {
	if c.wanted == nil {
		c.wanted = &claim{}
	}
	c.wanted.holders = append(c.wanted.holders, holder)
	if frames, err := link.AppendFrame(c.wanted.frames, f.Header, f.Payload); err == nil {
		c.wanted.frames = frames
	}
}

// write writes what a step left, and gives the connection up if that fails.
func (c *conn) write(out *station.Output) {
	c.send(out.Wire())
	c.hub.fragments.Release(out)
}

// send writes octets, unless the connection is given up.
func (c *conn) send(wire []byte) {
	if len(wire) == 0 || c.err != nil {
		return
	}
	if now := time.Now(); c.deadline != nil && c.writeBy.Sub(now) < writeTimeout/2 {
		c.writeBy = now.Add(writeTimeout)
		_ = c.deadline.SetWriteDeadline(c.writeBy)
	}
	if _, err := c.stream.Write(wire); err != nil {
		c.fail(err)
	}
}

// fail gives the connection up.
func (c *conn) fail(err error) {
	c.err = err
	c.shut()
}

// wake is the machine's way to ask for attention.
func (m *member) wake() {
	m.note()
	if m.conn.hub.handOver && m.conn.polled == nil {
		m.conn.nudge()
		return
	}
	m.conn.drive()
}

// ring is called by the wheel.
func (m *member) ring() {
	m.note()
	m.conn.nudge()
}

// nudge has the members that want attention seen to for a caller who must not be held up by a stuck
// write: it leaves the work to the reader where it can.
func (c *conn) nudge() {
	c.halted.Load().kick()
	if !c.interrupt() {
		c.drive()
	}
}

func (m *member) note() {
	c := m.conn
	c.noted.Lock()
	if !m.noted {
		m.noted = true
		c.notes = append(c.notes, m)
	}
	c.noted.Unlock()
	c.pending.Store(true)
}

// drive sees to the members that want attention, unless somebody else does.
func (c *conn) drive() {
	for c.pending.Load() && c.mu.TryLock() {
		c.pending.Store(false)
		out := c.hub.fragments.Output()
		now := time.Now()
		for m := c.take(); m != nil; m = c.take() {
			if c.closed || m.gone {
				continue
			}
			m.port.Tick(now, out)
			c.schedule(m)
		}
		c.write(out)
		if !c.closed && c.err == nil { // once closed, its ports may be on the next connection
			c.judge(now)
		}
		c.mu.Unlock()
	}
}

// take returns a member that wants attention, nil if there is none.
func (c *conn) take() *member {
	c.noted.Lock()
	defer c.noted.Unlock()
	if len(c.notes) == 0 {
		return nil
	}
	m := c.notes[len(c.notes)-1]
	c.notes = c.notes[:len(c.notes)-1]
	m.noted = false
	return m
}

// judge gives the connection up if nobody is there, or nobody who is known.
func (c *conn) judge(now time.Time) {
	switch {
	case c.dead():
		c.fail(ErrDead)
	case c.first == nil && c.unnamed != nil && !now.Before(c.unnamed.until):
		c.fail(errUnknown)
	}
}

// unnamed bounds how long a connection may leave open who is on it.
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
		c.pending.Store(true)
		c.nudge()
	}
	c.hub.wheel.set(&c.unnamed.alarm, c.unnamed.until)
}

// dead reports whether no peer on the connection is there any more.
func (c *conn) dead() bool {
	for _, p := range c.mux.Ports() {
		if !p.Dead() {
			return false
		}
	}
	return len(c.mux.Ports()) > 0
}

// readError returns why reading ended: the cause, if it is known better.
func (c *conn) readError(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	return err
}

// rung reports whether a read ended only because an alarm rang.
func (c *conn) rung(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && c.deadline != nil &&
		c.deadline.SetReadDeadline(time.Time{}) == nil && !c.ending()
}

// ending reports whether shut was called.
func (c *conn) ending() bool {
	return c.ended.Load()
}
