package channel

import (
	"errors"
	"io"
	"syscall"
	"time"

	"voltbus/protocol/dnp3/station"
)

// read reads until the stream ends.
func (c *conn) read() error {
	switch {
	case c.polled != nil:
		return c.polled.run()
	case c.socket != nil:
		return (&listener{conn: c}).run()
	}
	return c.readPlain()
}

// readPlain blocks with a buffer in hand.
func (c *conn) readPlain() error {
	b := c.hub.wires.Borrow()
	defer c.hub.wires.Return(b)
	for {
		n, err := c.stream.Read(free(b))
		b.Octets = b.Octets[:len(b.Octets)+n]
		if n == 0 && err != nil && !c.rung(err) {
			return c.readError(err)
		}
		c.drive()
		if n > 0 {
			c.takeOver(c.consume(b))
		}
	}
}

// free returns the unused part of a buffer.
func free(b *station.Buffer) []byte { return b.Octets[len(b.Octets):cap(b.Octets)] }

// consume handles what a buffer holds and leaves the rest in it. It returns the ports
// that have to be taken over before reading goes on, nil if there are none.
func (c *conn) consume(b *station.Buffer) *claim {
	n, wanted := c.receive(b.Octets)
	b.Octets = append(b.Octets[:0], b.Octets[n:]...)
	return wanted
}

// listener reads from a socket when it is readable, and borrows memory only while there
// are octets to hold. Everything that arrives is handled inside the wait for it, so that
// between two waits there is one read and not another one that finds nothing.
type listener struct {
	conn   *conn
	buffer *station.Buffer
	err    error
}

func (l *listener) run() error {
	defer l.giveBack()
	step := l.step
	for {
		if err := l.conn.socket.Read(step); err != nil && !l.conn.rung(err) {
			return l.conn.readError(err)
		}
		if l.err != nil {
			return l.conn.readError(l.err)
		}
		l.conn.drive()
	}
}

// drainedCheck is how long a socket may be silent after a read that did not fill its
// buffer before it is read again: the end of a stream that came together with its last
// octets is not announced another time.
const drainedCheck = time.Second

// step reads and handles what there is. It returns true when the stream ended, or is to
// end, and false when the socket has to be waited for.
func (l *listener) step(fd uintptr) bool {
	for {
		if l.buffer == nil {
			l.buffer = l.conn.hub.wires.Borrow()
		}
		room := free(l.buffer)
		n, err := readSocket(fd, room)
		switch {
		case n > 0:
			l.buffer.Octets = l.buffer.Octets[:len(l.buffer.Octets)+n]
			l.conn.takeOver(l.conn.consume(l.buffer))
			l.release()
			if l.conn.ending() {
				l.err = io.EOF
				return true
			}
			if n == len(room) {
				continue
			}
			l.conn.hub.wheel.set(&l.conn.drained, l.conn.heard.Add(drainedCheck))
			return false
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			l.release()
			return false
		case err != nil:
			l.err = err
		default:
			l.err = io.EOF
		}
		return true
	}
}

// release gives the buffer back if it is empty.
func (l *listener) release() {
	if len(l.buffer.Octets) == 0 {
		l.giveBack()
	}
}

func (l *listener) giveBack() {
	if l.buffer != nil {
		l.conn.hub.wires.Return(l.buffer)
		l.buffer = nil
	}
}
