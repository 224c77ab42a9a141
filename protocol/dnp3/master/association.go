package master

import (
	"context"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// Association is the master's side of the association with one outstation. It is a
// [station.Machine]: put it behind a port and drive that by a channel or a test.
// Submit and Do may be called concurrently with that.
type Association struct {
	Inbox

	config   Config
	delivery delivery

	open       bool
	blocked    bool // it is the turn of another association
	queue      queue
	current    *pending
	exchanging exchanging
	sequence   app.Sequence // of the next request
	auto       auto
	polls      polls
	confirms   confirms
	heldBack   time.Time // until when a report that is left may hold back answers
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
	a := &Association{config: c, delivery: delivery{handler: h, outstation: c.Outstation}, confirms: confirms{keep: c.Keep}}
	a.most = c.MaxQueue
	return a, nil
}

// Submit puts a request into the queue. done, if not nil, is called once with the result, by the goroutine
// that drives the association or by this one; it must not block. While the line is closed it fails at once
// with [ErrClosed].
func (a *Association) Submit(r *Request, done func(Result, error)) {
	a.submit(&pending{request: r, done: done})
}

// Do submits a request and waits for its end, or for that of the context; in the latter case it is unknown
// whether the request was carried out.
func (a *Association) Do(ctx context.Context, r *Request) (Result, error) {
	return a.DoWhile(ctx, r, nil, nil)
}

func (a *Association) submit(p *pending) {
	if err := a.put(p); err != nil {
		a.config.end(p, err)
		return
	}
	a.poke()
}

// Open implements [station.Machine]: it begins the start-up sequence.
func (a *Association) Open(now time.Time, out *station.Output) {
	a.open = true
	a.confirms.answer = held{}
	a.accept(true)
	a.auto = auto{due: a.config.startup()}
	a.polls = make(polls, len(a.config.Polls))
	for i := range a.polls {
		a.polls[i] = now.Add(a.config.Polls[i].Interval)
	}
	a.proceed(now, out)
}

// Close implements [station.Machine]: every request fails with [ErrClosed].
func (a *Association) Close(time.Time) {
	a.open, a.blocked, a.polls = false, false, nil
	a.confirms.answer = held{}
	a.confirms.forgetReport()
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
		a.config.end(p, ErrClosed)
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
	case a.confirms.answer.token != 0:
		return a.confirms.answer.until
	}
	due := a.confirms.report.until
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
		a.config.notify(Notice{Kind: NoticeMalformed, Err: err})
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
	inbox, anew := a.take(reads)
	if anew && a.open && a.config.Startup != 0 {
		a.auto.due |= taskIntegrity
	}
	for _, p := range inbox {
		switch {
		case !a.open:
			a.config.end(p, ErrClosed)
		case len(a.queue) >= a.config.MaxQueue:
			a.config.end(p, ErrFull)
		default:
			a.queue.add(p)
		}
	}
}
