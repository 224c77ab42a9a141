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
	case c.stream.polled != nil:
		return c.stream.polled.run()
	case c.stream.socket != nil:
		return (&socketReader{conn: c}).run()
	}
	return readBlocking(c)
}

// readBlocking reads any other stream; it holds a buffer while it waits.
func readBlocking(c *conn) error {
	b := c.hub.wires.Borrow()
	defer c.hub.wires.Return(b)
	for {
		n, err := c.stream.Read(free(b))
		b.Octets = b.Octets[:len(b.Octets)+n]
		if n == 0 && err != nil && !c.stream.interrupted(err) {
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

// consume handles the content of a buffer and leaves the rest in it. It returns the ports that must be taken
// over before reading continues, nil if there are none.
func (c *conn) consume(b *station.Buffer) *claim {
	n, wanted := c.receive(b.Octets)
	b.Octets = append(b.Octets[:0], b.Octets[n:]...)
	return wanted
}

// socketReader reads from a socket when it is readable, and borrows memory only while there
// are octets to hold. Everything that arrives is handled inside the wait for it, so that
// between two waits there is one read and not another one that finds nothing.
type socketReader struct {
	conn   *conn
	buffer *station.Buffer
	err    error
}

func (r *socketReader) run() error {
	defer r.giveBack()
	step := r.step
	for {
		if err := r.conn.stream.socket.Read(step); err != nil && !r.conn.stream.interrupted(err) {
			return r.conn.readError(err)
		}
		if r.err != nil {
			return r.conn.readError(r.err)
		}
		r.conn.drive()
	}
}

// drainedCheck is how long a socket may be silent after a read that did not fill its
// buffer before it is read again: the end of a stream that came together with its last
// octets is not announced another time.
const drainedCheck = time.Second

// step reads and handles the available bytes. It returns true when the stream ended, or is to
// end, and false when the socket has to be waited for.
func (r *socketReader) step(fd uintptr) bool {
	for {
		if r.buffer == nil {
			r.buffer = r.conn.hub.wires.Borrow()
		}
		room := free(r.buffer)
		n, err := readSocket(fd, room)
		switch {
		case n > 0:
			r.buffer.Octets = r.buffer.Octets[:len(r.buffer.Octets)+n]
			r.conn.takeOver(r.conn.consume(r.buffer))
			r.release()
			if r.conn.stream.ending() {
				r.err = io.EOF
				return true
			}
			if n == len(room) {
				continue
			}
			r.conn.hub.wheel.set(&r.conn.drained, r.conn.heard.Add(drainedCheck))
			return false
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			r.release()
			return false
		case err != nil:
			r.err = err
		default:
			r.err = io.EOF
		}
		return true
	}
}

// release gives the buffer back if it is empty.
func (r *socketReader) release() {
	if len(r.buffer.Octets) == 0 {
		r.giveBack()
	}
}

func (r *socketReader) giveBack() {
	if r.buffer != nil {
		r.conn.hub.wires.Return(r.buffer)
		r.buffer = nil
	}
}
