//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"voltbus/protocol/mqtt/brokertest"
	"voltbus/protocol/mqtt/session"
)

// serve runs the broker in one of its ways and prints its address.
func serve(ctx context.Context, mode string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	broker := brokertest.New(session.Config{MaxUnsent: 1 << 20}, brokertest.Hooks{}, time.Now)
	switch mode {
	case "buffered":
		return broker.Serve(ctx, opaque{l})
	case "goroutine":
		return broker.Serve(ctx, l)
	case "epoll":
		return serveEpoll(ctx, broker, l)
	default:
		return fmt.Errorf("there is no mode %q: write buffered, goroutine or epoll", mode)
	}
}

// opaque hides the sockets of its connections, so that each is read through a buffer of its own.
type opaque struct{ net.Listener }

// Accept implements net.Listener.
func (o opaque) Accept() (net.Conn, error) {
	conn, err := o.Listener.Accept()
	return struct{ net.Conn }{conn}, err
}

// workers is how many goroutines wait for an epoll of their own.
const workers = 2

// socket is a connection of a worker.
type socket struct {
	fd     int
	link   *brokertest.Link
	server *epollServer

	mu     sync.Mutex // held while sending
	unsent []byte
	closed bool
}

// epollServer serves all connections by a few workers.
type epollServer struct {
	broker *brokertest.Broker

	mu    sync.Mutex
	ready []*socket // have something to send
}

// worker reads the sockets of one epoll.
type worker struct {
	server  *epollServer
	epoll   int
	mu      sync.Mutex
	sockets map[int32]*socket
}

func serveEpoll(ctx context.Context, b *brokertest.Broker, l net.Listener) error {
	s := &epollServer{broker: b}
	var all []*worker
	var g errgroup.Group
	for range workers {
		fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
		if err != nil {
			return err
		}
		w := &worker{server: s, epoll: fd, sockets: make(map[int32]*socket)}
		all = append(all, w)
		g.Go(func() error { return w.run(ctx) })
	}
	for i := 0; ; i++ {
		conn, err := l.Accept()
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		if err := all[i%workers].add(conn); err != nil {
			return err
		}
	}
}

// add takes a socket over from the runtime.
func (w *worker) add(conn net.Conn) error {
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return err
	}
	fd := -1
	if err := raw.Control(func(p uintptr) { fd, err = unix.FcntlInt(p, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	s := &socket{fd: fd, server: w.server}
	s.link = w.server.broker.Dial(s.notify)
	w.mu.Lock()
	w.sockets[int32(fd)] = s
	w.mu.Unlock()
	event := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET, Fd: int32(fd)}
	return unix.EpollCtl(w.epoll, unix.EPOLL_CTL_ADD, fd, &event)
}

// notify is called by the broker under its lock.
func (s *socket) notify() {
	s.server.mu.Lock()
	s.server.ready = append(s.server.ready, s)
	s.server.mu.Unlock()
}

func (w *worker) run(ctx context.Context) error {
	var events [128]unix.EpollEvent
	buffer := make([]byte, 64<<10)
	for ctx.Err() == nil {
		n, err := unix.EpollWait(w.epoll, events[:], 1000)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			w.mu.Lock()
			s := w.sockets[e.Fd]
			w.mu.Unlock()
			if s == nil {
				continue
			}
			if e.Events&unix.EPOLLOUT != 0 {
				s.resume()
			}
			if e.Events&^unix.EPOLLOUT != 0 && s.read(buffer) {
				w.drop(s)
			}
		}
		w.server.flush()
	}
	return nil
}

// read reads the available bytes and reports whether the connection has ended.
func (s *socket) read(buffer []byte) bool {
	for {
		n, err := unix.Read(s.fd, buffer)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EAGAIN):
			return false
		case err != nil || n <= 0:
			return true
		default:
			s.link.Receive(buffer[:n])
			if n < len(buffer) {
				return false
			}
		}
	}
}

func (w *worker) drop(s *socket) {
	w.mu.Lock()
	delete(w.sockets, int32(s.fd))
	w.mu.Unlock()
	s.link.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = unix.Close(s.fd)
}

// flush sends what the broker has for clients.
func (e *epollServer) flush() {
	e.mu.Lock()
	ready := e.ready
	e.ready = nil
	e.mu.Unlock()
	for _, s := range ready {
		if s.next() {
			_ = unix.Shutdown(s.fd, unix.SHUT_RDWR)
		}
	}
}

// next sends what the broker has for the client and reports whether the connection is to end. Taking
// and sending are one step, so that two workers keep the order.
func (s *socket) next() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out, over := s.link.Take(nil)
	s.write(out)
	return over
}

// resume goes on with what is unsent.
func (s *socket) resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(nil)
}

// write sends as much as the socket takes and keeps the rest.
func (s *socket) write(out []byte) {
	if len(s.unsent) > 0 {
		out = append(s.unsent, out...)
		s.unsent = nil
	}
	for len(out) > 0 && !s.closed {
		n, err := unix.Write(s.fd, out)
		switch {
		case errors.Is(err, unix.EAGAIN):
			s.unsent = append([]byte(nil), out...)
			return
		case err != nil:
			return
		}
		out = out[n:]
	}
}
