package channel

import (
	"context"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/protocol/dnp3/station"
)

// batch is how many sockets a worker takes from the kernel at once.
const batch = 64

// poller serves sockets by a few workers.
type poller struct {
	workers []*worker
	next    atomic.Uint32
}

// worker serves the sockets of one epoll. The epoll itself is waited for by the runtime,
// as if it were a socket, so that a worker without work holds no thread and ends when its
// epoll is closed.
type worker struct {
	mu     sync.Mutex
	epoll  *os.File // nil before the first socket
	closed bool
	slots  []slot
	free   []int32
}

// slot is the place of a socket in a worker. An event names place and age, so that one
// that comes late is not taken for one of the socket that has the place now.
type slot struct {
	socket *polled
	age    int32
}

// newPoller returns a poller that is not running, nil for no workers.
func newPoller(workers int) *poller {
	if workers <= 0 {
		return nil
	}
	p := &poller{workers: make([]*worker, workers)}
	for i := range p.workers {
		p.workers[i] = &worker{}
	}
	return p
}

// start starts the workers, which end with ctx.
func (p *poller) start(ctx context.Context, working *sync.WaitGroup, wires *station.Pool) {
	if p == nil {
		return
	}
	for _, w := range p.workers {
		working.Go(func() { w.run(ctx, wires) })
	}
}

// pick returns the worker whose turn it is.
func (p *poller) pick() *worker { return p.workers[p.next.Add(1)%uint32(len(p.workers))] }

// open makes the epoll. It is called under mu.
func (w *worker) open() error {
	switch {
	case w.closed:
		return os.ErrClosed
	case w.epoll != nil:
		return nil
	}
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that the runtime waits for it
		return errors.Join(os.NewSyscallError("fcntl", err), unix.Close(fd))
	}
	w.epoll = os.NewFile(uintptr(fd), "epoll")
	return nil
}

// interest is announced once each time: what arrives, the end of what arrives, and room
// for what could not be sent.
const interest = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLOUT | unix.EPOLLET

// add lets the worker serve a socket.
func (w *worker) add(s *polled) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.open(); err != nil {
		return err
	}
	if len(w.free) == 0 {
		w.free = append(w.free, int32(len(w.slots)))
		w.slots = append(w.slots, slot{})
	}
	at := w.free[len(w.free)-1]
	event := unix.EpollEvent{Events: interest, Fd: at, Pad: w.slots[at].age}
	if err := w.control(unix.EPOLL_CTL_ADD, s.fd, &event); err != nil {
		return err
	}
	w.free = w.free[:len(w.free)-1]
	w.slots[at].socket, s.slot = s, at
	return nil
}

// remove ends what add began. No event of the socket is delivered afterwards.
func (w *worker) remove(s *polled) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := &w.slots[s.slot]
	at.socket = nil
	at.age++
	w.free = append(w.free, s.slot)
	if !w.closed {
		_ = w.control(unix.EPOLL_CTL_DEL, s.fd, nil) // closing the socket does the same
	}
}

func (w *worker) control(op, fd int, event *unix.EpollEvent) error {
	raw, err := w.epoll.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(epoll uintptr) { failed = unix.EpollCtl(int(epoll), op, fd, event) }); err != nil {
		return err
	}
	return os.NewSyscallError("epoll_ctl", failed)
}

// run serves sockets until ctx ends; then it ends their connections.
func (w *worker) run(ctx context.Context, wires *station.Pool) {
	defer w.close()
	w.mu.Lock()
	err := w.open()
	w.mu.Unlock()
	if err != nil {
		return // add says the same, and the connections are served without workers
	}
	raw, err := w.epoll.SyscallConn()
	if err != nil {
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = w.epoll.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	b := bench{wires: wires}
	for raw.Read(b.fetch) == nil && b.err == nil {
		w.find(&b)
		for i, s := range b.sockets[:b.count] {
			s.attend(b.events[i].Events, &b)
			b.sockets[i] = nil
		}
	}
}

// close ends all connections of the worker.
func (w *worker) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.epoll != nil {
		_ = w.epoll.Close()
	}
	for _, s := range w.slots {
		if s.socket != nil {
			s.socket.conn.stream.shut()
		}
	}
}

// find puts the sockets of the events that were fetched on the bench; events of sockets
// that are not there any more drop out.
func (w *worker) find(b *bench) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, e := range b.events[:b.count] {
		if at := w.slots[e.Fd]; at.socket != nil && at.age == e.Pad {
			b.events[n], b.sockets[n] = e, at.socket
			n++
		}
	}
	b.count = n
}

// bench is what a worker works with.
type bench struct {
	wires   *station.Pool
	spare   *station.Buffer // to read into, nil if it was left with a socket
	events  [batch]unix.EpollEvent
	sockets [batch]*polled
	count   int
	err     error
}

// fetch takes events and reports whether there were any; otherwise the epoll has to be
// waited for.
func (b *bench) fetch(epoll uintptr) bool {
	for {
		b.count, b.err = unix.EpollWait(int(epoll), b.events[:], 0)
		switch {
		case errors.Is(b.err, syscall.EINTR):
			continue
		case b.err != nil:
			b.count = 0
			return true
		}
		return b.count > 0
	}
}
