package channel

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/protocol/dnp3/station"
)

// maxUnsent bounds the octets of a connection that wait for room in the socket. It holds
// a request to each of very many stations on one line.
const maxUnsent = 1 << 20

var errUnsent = errors.New("the peer does not read what is sent to it")

// polled is a socket that a worker reads when something arrives. Writing never blocks:
// what the socket does not take waits for room.
type polled struct {
	conn   *conn
	worker *worker
	fd     int
	slot   int32 // guarded by worker.mu

	reading sync.Mutex // held by whoever reads
	again   atomic.Bool
	hup     atomic.Bool // the end of what arrives was announced
	parted  bool        // nobody is to read; guarded by reading
	paused  bool        // likewise
	pausing atomic.Bool // whoever reads is to stop
	rest    *station.Buffer

	over  chan error  // why reading ended
	claim chan *claim // ports that are to be taken over before reading goes on

	// Guarded by conn.mu:
	unsent []byte
	late   alarm // ends a connection with something unsent
	closed bool
	stuck  atomic.Bool // there is something unsent
}

// newPolled takes a socket over from the runtime and gives it to a worker. It returns nil
// if that cannot be; the socket is then as it was.
func newPolled(c *conn, tcp *net.TCPConn) *polled {
	if c.hub.poller == nil {
		return nil
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return nil
	}
	fd := -1
	err = raw.Control(func(socket uintptr) { fd, _ = unix.FcntlInt(socket, unix.F_DUPFD_CLOEXEC, 0) })
	if err != nil || fd < 0 {
		return nil
	}
	p := &polled{conn: c, worker: c.hub.poller.pick(), fd: fd, over: make(chan error, 1), claim: make(chan *claim, 1)}
	p.late.ring = p.giveUp
	p.parted = true // until run
	if p.worker.add(p) != nil {
		_ = unix.Close(fd)
		return nil
	}
	_ = tcp.Close() // the duplicate stays open
	return p
}

// run waits until reading ends, and returns why it did. Reading begins with it, so that
// nothing arrives before the ports are open.
func (p *polled) run() error {
	p.resume()
	for {
		select {
		case <-p.conn.stream.shutting:
			p.part()
			return p.conn.readError(io.EOF)
		case err := <-p.over:
			p.part()
			return p.conn.readError(err)
		case w := <-p.claim:
			p.conn.takeOver(w)
			p.resume()
		}
	}
}

// part makes sure that nobody reads any more.
func (p *polled) part() {
	p.reading.Lock()
	p.parted = true
	if p.rest != nil {
		p.conn.hub.wires.Return(p.rest)
		p.rest = nil
	}
	p.reading.Unlock()
}

// resume lets reading go on.
func (p *polled) resume() {
	p.reading.Lock()
	p.parted = false
	p.reading.Unlock()
	p.look()
}

// look reads what arrived while nobody read.
func (p *polled) look() {
	b := bench{wires: p.conn.hub.wires}
	p.attend(unix.EPOLLIN, &b)
	if b.spare != nil {
		b.wires.Return(b.spare)
	}
}

// hold begins or ends a pause. When it returns, nobody reads during one.
func (p *polled) hold(on bool) {
	p.pausing.Store(on)
	p.reading.Lock()
	p.paused = on
	p.reading.Unlock()
	if !on {
		p.look()
	}
}

// attend handles what was announced, unless another goroutine does.
func (p *polled) attend(events uint32, b *bench) {
	if events&unix.EPOLLOUT != 0 && p.stuck.Load() {
		p.flush()
	}
	if events&^unix.EPOLLOUT == 0 {
		return
	}
	if events&^(unix.EPOLLOUT|unix.EPOLLIN) != 0 {
		p.hup.Store(true)
	}
	p.again.Store(true)
	for p.again.Load() && p.reading.TryLock() {
		p.again.Store(false)
		if !p.parted && !p.paused {
			p.read(b)
		}
		p.reading.Unlock()
	}
}

// read reads and handles the available bytes. The caller holds reading.
func (p *polled) read(b *bench) {
	for !p.pausing.Load() {
		buffer := p.rest
		if p.rest = nil; buffer == nil {
			buffer = b.lend()
		}
		room := free(buffer)
		n, err := unix.Read(p.fd, room)
		wanted := (*claim)(nil)
		if n > 0 {
			buffer.Octets = buffer.Octets[:len(buffer.Octets)+n]
			wanted = p.conn.consume(buffer)
		}
		p.keep(buffer, b)
		switch {
		case n > 0 && wanted == nil && !p.conn.stream.ending():
			if n < len(room) && !p.hup.Load() {
				return // what arrives from now on is announced
			}
			continue
		case n > 0 && wanted != nil:
			p.parted = true
			p.claim <- wanted
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
		default:
			p.end(err)
		}
		return
	}
}

// end says that reading is over.
func (p *polled) end(err error) {
	p.parted = true
	if err == nil {
		err = io.EOF
	} else {
		err = os.NewSyscallError("read", err)
	}
	select {
	case p.over <- err:
	default: // it was said already
	}
}

// lend returns the spare buffer of a worker.
func (b *bench) lend() *station.Buffer {
	if b.spare == nil {
		b.spare = b.wires.Borrow()
	}
	s := b.spare
	b.spare = nil
	return s
}

// keep keeps a buffer that holds the beginning of a frame, others become spare.
func (p *polled) keep(buffer *station.Buffer, b *bench) {
	switch {
	case len(buffer.Octets) > 0:
		p.rest = buffer
	case b.spare == nil:
		b.spare = buffer
	default:
		b.wires.Return(buffer)
	}
}

// Read is there to make the socket a stream; it is read by its worker.
func (p *polled) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Write sends what the socket takes and keeps the rest, in order. It is called under
// conn.mu.
func (p *polled) Write(octets []byte) (int, error) {
	if p.closed {
		return 0, net.ErrClosed
	}
	rest := octets
	if len(p.unsent) == 0 {
		var err error
		if rest, err = p.send(octets); err != nil || len(rest) == 0 {
			return len(octets) - len(rest), err
		}
		p.stuck.Store(true) // from here on a worker that hears of room waits for us
		if rest, err = p.send(rest); err != nil || len(rest) == 0 {
			p.stuck.Store(false)
			return len(octets) - len(rest), err
		}
		p.conn.hub.wheel.set(&p.late, time.Now().Add(writeTimeout))
	}
	if len(p.unsent)+len(rest) > maxUnsent {
		return 0, fmt.Errorf("%w: %d octets wait", errUnsent, len(p.unsent))
	}
	p.unsent = append(p.unsent, rest...)
	return len(octets), nil
}

// send sends until the socket takes no more, and returns what is left.
func (p *polled) send(octets []byte) ([]byte, error) {
	for len(octets) > 0 {
		n, err := unix.Write(p.fd, octets)
		switch {
		case n > 0:
			octets = octets[n:]
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return octets, nil
		case err != nil:
			return octets, os.NewSyscallError("write", err)
		}
	}
	return nil, nil
}

// flush sends what waits, as far as there is room.
func (p *polled) flush() {
	c := p.conn
	c.mu.Lock()
	defer c.drive()
	defer c.mu.Unlock()
	if p.closed || len(p.unsent) == 0 {
		return
	}
	rest, err := p.send(p.unsent)
	switch {
	case err != nil:
		c.fail(err)
	case len(rest) == 0:
		p.unsent = nil
		p.stuck.Store(false)
		c.hub.wheel.set(&p.late, time.Time{})
	case len(rest) < len(p.unsent):
		p.unsent = append(p.unsent[:0], rest...)
		c.hub.wheel.set(&p.late, time.Now().Add(writeTimeout))
	}
}

// giveUp ends a connection that took nothing for too long.
func (p *polled) giveUp() {
	c := p.conn
	c.mu.Lock()
	defer c.drive()
	defer c.mu.Unlock()
	if len(p.unsent) > 0 && c.err == nil {
		c.fail(fmt.Errorf("%w: nothing for %v", errUnsent, writeTimeout))
	}
}

// Close closes the socket. It is called under conn.mu, when nobody reads any more.
func (p *polled) Close() error {
	if p.closed {
		return net.ErrClosed
	}
	p.closed, p.unsent = true, nil
	p.stuck.Store(false)
	p.worker.remove(p)
	p.conn.hub.wheel.drop(&p.late)
	return os.NewSyscallError("close", unix.Close(p.fd))
}
