package line

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"voltbus/fault"
)

// request is a read or write with a waiting caller.
type request struct {
	unit     *Device
	do       func(ctx context.Context, l *Line) error // runs on the line's goroutine
	done     chan error                               // for a single request: buffered; receives the answer
	answer   func(error)                              // receives the answer; must not block
	answered atomic.Bool                              // it was answered

	dropped func() bool // whether the caller gave up
	next    *request    // queued when this one has been answered: a call for many points
}

// reply answers a request, unless it has already been answered.
func (r *request) reply(err error) {
	if r.answered.CompareAndSwap(false, true) {
		r.answer(err)
	}
}

// mailbox is what other goroutines pass to a line's goroutine: its new devices, and requests. It refuses
// requests beyond its limit. It is safe for concurrent use.
type mailbox struct {
	limit int
	wake  chan struct{} // wakes the goroutine

	mu       sync.Mutex
	wanted   []*Device
	fresh    bool // wanted has not been taken yet
	requests []*request
	news     []*Device // devices that have reports, each once
	closed   bool
}

func newMailbox(limit int) *mailbox {
	return &mailbox{limit: limit, wake: make(chan struct{}, 1)}
}

// nudge wakes the goroutine.
func (m *mailbox) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// notify records that a device has reports.
func (m *mailbox) notify(u *Device) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !u.hasNews && !m.closed {
		u.hasNews = true
		m.news = append(m.news, u)
		m.nudge()
	}
}

// takeNews returns the devices that have reports, in order. It reuses the slice of the last call.
func (m *mailbox) takeNews(last []*Device) []*Device {
	clear(last)
	m.mu.Lock()
	defer m.mu.Unlock()
	taken := m.news
	m.news = last[:0]
	for _, u := range taken {
		u.hasNews = false
	}
	return taken
}

// want sets the devices of the line.
func (m *mailbox) want(units []*Device) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Equal(m.wanted, units) {
		return
	}
	m.wanted, m.fresh = units, true
	m.nudge()
}

// await waits until there are devices to take.
func (m *mailbox) await(ctx context.Context) {
	for !m.isFresh() {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		}
	}
}

func (m *mailbox) isFresh() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fresh
}

// takeWanted returns the devices if they have been set since the last call.
func (m *mailbox) takeWanted() ([]*Device, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := m.fresh
	m.fresh = false
	return m.wanted, fresh
}

// Reasons why a request is not accepted.
var (
	errQueueFull = errors.New("too many requests wait for its line; try again later")
	errLineEnded = errors.New("its line was closed; try again")
)

// putOrRefuse queues a request.
func (m *mailbox) putOrRefuse(r *request) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return errLineEnded
	case len(m.requests) >= m.limit:
		return errQueueFull
	}
	m.requests = append(m.requests, r)
	m.nudge()
	return nil
}

// follow queues the next request of a call for many points after all that are pending by now. The call counts
// as one request, and a single request waits for at most one of its points.
func (m *mailbox) follow(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		r.refuse()
		return
	}
	m.requests = append(m.requests, r)
}

// refuse answers a request and its successors after the line has ended.
func (r *request) refuse() {
	for ; r != nil; r = r.next {
		r.reply(fault.E("device.line", fault.Unavailable, string(r.unit.cfg.Path), errLineEnded))
	}
}

// take returns the oldest request, or nil.
func (m *mailbox) take() *request {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		return nil
	}
	r := m.requests[0]
	m.requests[0] = nil
	m.requests = m.requests[1:]
	if len(m.requests) == 0 {
		m.requests = nil
	}
	return r
}

// closeUnlessWanted closes the mailbox if it holds no new devices, and reports whether it did.
func (m *mailbox) closeUnlessWanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fresh {
		return false
	}
	m.closeLocked()
	return true
}

// close closes the mailbox and answers all pending requests.
func (m *mailbox) close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closeLocked()
}

func (m *mailbox) closeLocked() {
	m.closed = true
	for _, r := range m.requests {
		r.refuse()
	}
	m.requests = nil
}
