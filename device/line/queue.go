package line

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"voltbus/fault"
)

// request is one read or write whose caller waits.
type request struct {
	unit     *Device
	do       func(ctx context.Context, l *Line) error // runs on the line's goroutine
	done     chan error                               // of a single request: buffered; gets the answer
	answer   func(error)                              // takes the answer; does not wait
	answered atomic.Bool                              // it was answered

	dropped func() bool // whether the caller gave up
	next    *request    // to be queued when this one was answered: a call for many points
}

// reply answers a request, unless it was answered before.
func (r *request) reply(err error) {
	if r.answered.CompareAndSwap(false, true) {
		r.answer(err)
	}
}

// mailbox is what others hand to a line's goroutine: the devices it is to have, and requests.
// It refuses requests beyond its limit. It is safe for concurrent use.
type mailbox struct {
	limit int
	wake  chan struct{} // makes the goroutine look

	mu       sync.Mutex
	wanted   []*Device
	fresh    bool // wanted was not taken yet
	requests []*request
	news     []*Device // that have reports, each once
	closed   bool
}

func newMailbox(limit int) *mailbox {
	return &mailbox{limit: limit, wake: make(chan struct{}, 1)}
}

// nudge makes the goroutine look.
func (m *mailbox) nudge() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// notify notes that a device has reports.
func (m *mailbox) notify(u *Device) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !u.hasNews && !m.closed {
		u.hasNews = true
		m.news = append(m.news, u)
		m.nudge()
	}
}

// takeNews returns the devices that have reports, in order. The slice of the last call is
// used again.
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

// await waits until there are devices that were not taken.
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

// takeWanted returns the devices if they were set since the last call.
func (m *mailbox) takeWanted() ([]*Device, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	fresh := m.fresh
	m.fresh = false
	return m.wanted, fresh
}

// The reasons why a request is not taken.
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

// follow queues the next request of a call for many points behind all that wait by now. The call
// counts as one request, and a single one waits for one of its points at most.
func (m *mailbox) follow(r *request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		r.refuse()
		return
	}
	m.requests = append(m.requests, r)
}

// refuse answers a request, and those that were to follow it, after the line ended.
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

// closeUnlessWanted ends the mailbox if no new devices wait in it, and reports whether it did.
func (m *mailbox) closeUnlessWanted() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fresh {
		return false
	}
	m.closeLocked()
	return true
}

// close ends the mailbox and answers all waiting requests.
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
