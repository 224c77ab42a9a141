package channel

import (
	"errors"
	"io"
	"net"
	"syscall"

	"voltbus/protocol/dnp3/station"
)

// read reads until the stream ends. Memory is borrowed only while it holds octets,
// where the stream can tell that there are some.
func (c *conn) read() error {
	read := c.reader()
	var buffer *station.Buffer
	for {
		var err error
		if buffer, err = read(buffer); err != nil && !c.rung(err) {
			c.giveBack(buffer)
			return c.readError(err)
		}
		c.drive()
		if buffer == nil || len(buffer.Octets) == 0 {
			continue
		}
		n := c.receive(buffer.Octets)
		buffer.Octets = append(buffer.Octets[:0], buffer.Octets[n:]...)
		if len(buffer.Octets) == 0 {
			c.giveBack(buffer)
			buffer = nil
		}
	}
}

func (c *conn) giveBack(b *station.Buffer) {
	if b != nil {
		c.hub.wires.Return(b)
	}
}

// reader returns a function that reads behind what a buffer, or none, holds. It returns
// the buffer, which may be nil if nothing was read.
func (c *conn) reader() func(*station.Buffer) (*station.Buffer, error) {
	if conn, ok := c.stream.(*net.TCPConn); ok {
		if raw, err := conn.SyscallConn(); err == nil {
			return newRawReader(c.hub.wires, raw).read
		}
	}
	return c.readPlain
}

// readPlain blocks with the buffer in hand.
func (c *conn) readPlain(b *station.Buffer) (*station.Buffer, error) {
	if b == nil {
		b = c.hub.wires.Borrow()
	}
	n, err := c.stream.Read(free(b))
	b.Octets = b.Octets[:len(b.Octets)+n]
	if n > 0 {
		err = nil // it comes again with the next read
	}
	return b, err
}

// free returns the unused part of a buffer.
func free(b *station.Buffer) []byte { return b.Octets[len(b.Octets):cap(b.Octets)] }

// rawReader reads from a socket when it is readable, and borrows a buffer only then.
type rawReader struct {
	pool   *station.Pool
	raw    syscall.RawConn
	buffer *station.Buffer
	err    error
	try    func(fd uintptr) bool
}

func newRawReader(pool *station.Pool, raw syscall.RawConn) *rawReader {
	r := &rawReader{pool: pool, raw: raw}
	r.try = r.attempt
	return r
}

func (r *rawReader) read(b *station.Buffer) (*station.Buffer, error) {
	r.buffer, r.err = b, nil
	err := r.raw.Read(r.try)
	b, r.buffer = r.buffer, nil
	if err != nil {
		return b, err
	}
	return b, r.err
}

// attempt reports whether there is something to say, or the socket has to be waited for.
func (r *rawReader) attempt(fd uintptr) bool {
	held := r.buffer != nil
	if !held {
		r.buffer = r.pool.Borrow()
	}
	for {
		n, err := readSocket(fd, free(r.buffer))
		switch {
		case n > 0:
			r.buffer.Octets = r.buffer.Octets[:len(r.buffer.Octets)+n]
			return true
		case errors.Is(err, syscall.EINTR):
			continue
		case errors.Is(err, syscall.EAGAIN):
			if !held {
				r.pool.Return(r.buffer)
				r.buffer = nil
			}
			return false
		case err != nil:
			r.err = err
		default:
			r.err = io.EOF
		}
		return true
	}
}
