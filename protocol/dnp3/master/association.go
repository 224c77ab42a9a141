package master

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// Association is the master's side of the association with one outstation. It is a
// [station.Machine]: put it behind a port and drive that by a channel or a test.
// Submit and Do may be called concurrently with that.
type Association struct {
	config  Config
	handler Handler

	mu        sync.Mutex // guards what Submit uses
	inbox     []*pending
	wake      func()
	kept      []uint64 // tokens of confirmations to be sent
	accepting bool
	anew      bool // the start-up read is to be made again

	open        bool
	blocked     bool       // it is the turn of another association
	queue       []*pending // ordered by priority
	current     *pending
	exchanging  exchanging
	sequence    app.Sequence // of the next request
	auto        auto
	polls       []time.Time // when each is due; nil while closed
	unsolicited reported
	tokens      uint64
	report      held      // the confirmation of the last report
	answer      held      // that of the last fragment of an answer
	again       bool      // the outstation did not get a confirmation in time
	heldBack    time.Time // until when a report that is left may hold back answers
}

// pending is a request that waits or is being carried out.
type pending struct {
	request  *Request
	done     func(Result, error)
	own      task // what the association asked for by itself
	result   Result
	canceled atomic.Bool
}

// exchanging is the state of the question that waits for its answer.
type exchanging struct {
	octets   []byte // the question, to be repeated
	sequence app.Sequence
	first    bool // no fragment of the answer came yet
	brought  bool // values came
	iin      app.IIN
	due      time.Time
	tries    int
	held     bool // it was given more time for a report that is left
}

// New returns an association that is not open.
func New(c Config, h Handler) (*Association, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if h == nil {
		return nil, fmt.Errorf("master: outstation %v: %w", c.Outstation, errHandler)
	}
	c.setDefaults()
	return &Association{config: c, handler: h}, nil
}

// Submit puts a request into the queue. done, if not nil, is called once with what came
// of it, by the goroutine that drives the association or by this one; it must not
// block. While the line is closed it fails at once with [ErrClosed].
func (a *Association) Submit(r *Request, done func(Result, error)) {
	a.submit(&pending{request: r, done: done})
}

// Do submits a request and waits for its end, or for that of the context; then nobody
// knows whether the request was carried out.
func (a *Association) Do(ctx context.Context, r *Request) (Result, error) {
	return a.DoWhile(ctx, r, nil, nil)
}

func (a *Association) submit(p *pending) {
	a.mu.Lock()
	var err error
	switch {
	case !a.accepting:
		err = ErrClosed
	case len(a.inbox) >= a.config.MaxQueue:
		err = ErrFull
	default:
		a.inbox = append(a.inbox, p)
	}
	a.mu.Unlock()
	if err != nil {
		a.end(p, err)
		return
	}
	a.poke()
}

// SetWake implements [station.Machine].
func (a *Association) SetWake(wake func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wake = wake
}

// ReadAnew has everything of Config.Startup read again, for somebody who came later: again
// until it is answered, as at the start. It does not wait. While the line is closed it does
// nothing, as opening it reads that anyway.
func (a *Association) ReadAnew() {
	a.mu.Lock()
	a.anew = a.accepting
	a.mu.Unlock()
	a.poke()
}

func (a *Association) accept(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.accepting, a.anew, a.kept = on, false, nil
}

func (a *Association) poke() {
	a.mu.Lock()
	wake := a.wake
	a.mu.Unlock()
	if wake != nil {
		wake()
	}
}

// Open implements [station.Machine]: it begins the start-up sequence.
func (a *Association) Open(now time.Time, out *station.Output) {
	a.open = true
	a.answer = held{}
	a.accept(true)
	a.auto = auto{due: a.startup()}
	a.polls = make([]time.Time, len(a.config.Polls))
	for i := range a.polls {
		a.polls[i] = now.Add(a.config.Polls[i].Interval)
	}
	a.proceed(now, out)
}

// Close implements [station.Machine]: every request fails with [ErrClosed].
func (a *Association) Close(time.Time) {
	a.open, a.blocked, a.polls = false, false, nil
	a.answer = held{}
	a.forgetReport()
	a.accept(false)
	a.auto = auto{}
	a.config.Turn.give(a)
	a.collect()
	failed := a.queue
	if a.current != nil {
		failed = append([]*pending{a.current}, failed...)
	}
	a.current, a.queue = nil, nil
	a.exchanging = exchanging{}
	for _, p := range failed {
		a.end(p, ErrClosed)
	}
}

// Deadline implements [station.Machine].
func (a *Association) Deadline() time.Time {
	if !a.open || a.blocked {
		return time.Time{}
	}
	switch {
	case a.current != nil:
		return a.exchanging.due
	case a.answer.token != 0:
		return a.answer.until
	}
	due := a.report.until
	if a.auto.due != 0 {
		due = station.Earlier(due, a.auto.notBefore)
	}
	for _, at := range a.polls {
		due = station.Earlier(due, at)
	}
	return due
}

// Tick implements [station.Machine].
func (a *Association) Tick(now time.Time, out *station.Output) {
	a.collect()
	a.release(now, out)
	if a.current != nil && station.Due(a.exchanging.due, now) {
		a.late(now, out)
	}
	a.proceed(now, out)
}

// Receive implements [station.Machine].
func (a *Association) Receive(now time.Time, m station.Message, out *station.Output) {
	f, err := app.Parse(m.Octets)
	switch {
	case err != nil || m.Broadcast != 0:
		a.notify(Notice{Kind: NoticeMalformed, Err: err})
	case f.Function == app.FuncUnsolicitedResponse:
		a.receiveUnsolicited(now, m, f, out)
	case f.Function == app.FuncResponse && !f.Control.Unsolicited():
		a.receiveResponse(now, f, out)
	}
	a.collect()
	a.release(now, out)
	a.proceed(now, out)
}

// collect moves submitted requests into the queue, or fails them while the line is closed.
func (a *Association) collect() {
	reads := a.current != nil && a.current.own == taskIntegrity // half of which may be over
	a.mu.Lock()
	inbox, anew := a.inbox, a.anew && !reads
	a.inbox, a.anew = nil, a.anew && reads
	a.mu.Unlock()
	if anew && a.open && a.config.Startup != 0 {
		a.auto.due |= taskIntegrity
	}
	for _, p := range inbox {
		switch {
		case !a.open:
			a.end(p, ErrClosed)
		case len(a.queue) >= a.config.MaxQueue:
			a.end(p, ErrFull)
		default:
			a.enqueue(p)
		}
	}
}

// enqueue keeps the queue ordered by priority, then by arrival.
func (a *Association) enqueue(p *pending) {
	at := len(a.queue)
	for at > 0 && a.queue[at-1].request.priority < p.request.priority {
		at--
	}
	a.queue = append(a.queue, nil)
	copy(a.queue[at+1:], a.queue[at:])
	a.queue[at] = p
}

// end tells the submitter what came of a request.
func (a *Association) end(p *pending, err error) {
	if err != nil {
		err = fmt.Errorf("outstation %v: %v: %w", a.config.Outstation, p.request, err)
	}
	if p.own != 0 {
		a.notify(Notice{Kind: NoticeRequest, Request: p.request.name, Err: err})
	}
	if p.done != nil {
		p.done(p.result, err)
	}
}

func (a *Association) notify(n Notice) {
	if a.config.Notify != nil {
		a.config.Notify(n)
	}
}
