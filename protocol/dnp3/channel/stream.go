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
)

// writeTimeout is how long a write may be stuck before the connection is given up.
const writeTimeout = 10 * time.Second

// longAgo returns a deadline that has passed.
func longAgo() time.Time { return time.Unix(1, 0) }

// deadliner is a stream with deadlines.
type deadliner interface {
	SetReadDeadline(t time.Time) error
	SetWriteDeadline(t time.Time) error
}

// stream is what a connection reads and writes, and the ways to make its reader look up and to end it.
type stream struct {
	io.ReadWriteCloser
	peer     string          // address of the other side, "" if there is none
	polled   *polled         // the stream itself, if a worker serves it
	socket   syscall.RawConn // nil if the stream is no TCP socket with a reader of its own
	deadline deadliner       // nil if the stream has none
	writeBy  time.Time       // deadline of writes; belongs to the writer

	once     sync.Once
	shutting chan struct{} // closed by shut
	ended    atomic.Bool   // set by shut
}

// open prepares a stream for the connection c: a worker of the hub reads it where that is possible, otherwise the reader of
// the connection does.
func (s *stream) open(c *conn, opened io.ReadWriteCloser) {
	s.ReadWriteCloser, s.peer, s.shutting = opened, peer(opened), make(chan struct{})
	tcp, isTCP := opened.(*net.TCPConn)
	if isTCP {
		if s.polled = newPolled(c, tcp); s.polled != nil {
			s.ReadWriteCloser = s.polled
			return
		}
	}
	s.deadline, _ = opened.(deadliner)
	if s.deadline != nil && s.deadline.SetReadDeadline(time.Time{}) != nil {
		s.deadline = nil // a file that cannot be polled
	}
	if isTCP && s.deadline != nil {
		if raw, err := tcp.SyscallConn(); err == nil {
			s.socket = raw
		}
	}
}

// send writes bytes. One goroutine at a time may call it.
func (s *stream) send(wire []byte) error {
	if now := time.Now(); s.deadline != nil && s.writeBy.Sub(now) < writeTimeout/2 {
		s.writeBy = now.Add(writeTimeout)
		_ = s.deadline.SetWriteDeadline(s.writeBy)
	}
	_, err := s.Write(wire)
	return err
}

// shut makes the reader end. It may be called by anyone, and waits for nobody: a socket is closed by its reader, because
// closing one waits until nobody uses it.
func (s *stream) shut() {
	s.once.Do(func() {
		s.ended.Store(true)
		close(s.shutting)
		if s.polled != nil {
			return
		}
		if s.socket == nil {
			_ = s.Close()
			return
		}
		s.interrupt()
		_ = s.deadline.SetWriteDeadline(longAgo())
	})
}

// interrupt ends a read, so that the reader sees to what is due. It returns false if the stream cannot do that.
func (s *stream) interrupt() bool {
	return s.deadline != nil && s.deadline.SetReadDeadline(longAgo()) == nil
}

// interrupted reports whether a read ended only because of interrupt, and lets reading go on if so.
func (s *stream) interrupted(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) && s.deadline != nil &&
		s.deadline.SetReadDeadline(time.Time{}) == nil && !s.ending()
}

// ending reports whether shut was called.
func (s *stream) ending() bool { return s.ended.Load() }
