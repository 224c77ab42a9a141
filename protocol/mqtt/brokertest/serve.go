package brokertest

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// readSize is how much is read at once.
const readSize = 4 << 10

// server serves the connections of a listener.
type server struct {
	broker  *Broker
	buffers sync.Pool
	working sync.WaitGroup
}

// Serve serves clients until ctx ends, each by one goroutine. While a client is silent, its goroutine
// holds no buffer. What is to be sent is sent by another goroutine, which ends when there is nothing
// left.
func (b *Broker) Serve(ctx context.Context, l net.Listener) error {
	s := &server{broker: b, buffers: sync.Pool{New: func() any { return new([readSize]byte) }}}
	stop := context.AfterFunc(ctx, func() { _ = l.Close() })
	defer stop()
	defer s.working.Wait()
	for {
		conn, err := l.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		s.working.Go(func() { s.serve(ctx, conn) })
	}
}

func (s *server) serve(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	w := &sender{server: s, conn: conn}
	w.link = s.broker.Dial(w.start)
	defer w.link.Close()
	raw, ok := conn.(syscall.Conn)
	if !ok {
		s.read(conn, w.link)
		return
	}
	rc, err := raw.SyscallConn()
	if err != nil {
		return
	}
	_ = rc.Read(func(fd uintptr) bool { return s.readable(int(fd), w.link) })
}

// read reads through a buffer that it keeps.
func (s *server) read(conn net.Conn, link *Link) {
	buffer := make([]byte, readSize)
	for {
		n, err := conn.Read(buffer)
		link.Receive(buffer[:n])
		if err != nil {
			return
		}
	}
}

// readable reads what there is and reports whether the connection is at its end; otherwise the
// runtime calls again when there is more.
func (s *server) readable(fd int, link *Link) bool {
	buffer := s.buffers.Get().(*[readSize]byte)
	defer s.buffers.Put(buffer)
	for {
		n, err := syscall.Read(fd, buffer[:])
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EAGAIN):
			return false
		case err != nil || n <= 0:
			return true
		default:
			link.Receive(buffer[:n])
		}
	}
}

// sender sends what a link has to send.
type sender struct {
	server *server
	conn   net.Conn
	link   *Link
	mu     sync.Mutex
}

// start is the notify function of the link. Once it was called it is not called again before Take.
func (w *sender) start() { w.server.working.Go(w.send) }

// send sends until there is nothing left.
func (w *sender) send() {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, over := w.link.Take(nil)
	if len(out) > 0 {
		if _, err := w.conn.Write(out); err != nil && !errors.Is(err, os.ErrClosed) {
			over = true
		}
	}
	if over {
		_ = w.conn.Close()
	}
}
