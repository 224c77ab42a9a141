package master

import (
	"errors"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/station"
)

// proceed begins the next request if none is being carried out.
func (a *Association) proceed(now time.Time, out *station.Output) {
	a.blocked = false
	for a.open && a.current == nil && a.confirms.answer.token == 0 { // a request would give the confirmation up
		if !a.waiting(now) {
			a.config.Turn.give(a)
			return
		}
		if a.blocked = !a.config.Turn.take(a); a.blocked {
			return
		}
		a.current = a.next(now)
		a.begin(now, out)
	}
}

// waiting reports whether there is a request to begin. The start-up sequence does not read events that a report has just
// brought, which is not kept yet: an outstation whose reports were disabled meanwhile would send them once more.
func (a *Association) waiting(now time.Time) bool {
	priority, submitted := a.queue.head()
	if a.confirms.report.token != 0 && a.auto.first() == taskIntegrity {
		return submitted && priority >= Control
	}
	return submitted || a.auto.waits(now) || a.polls.due(now) >= 0
}

// next takes the request to begin: commands, then the start-up sequence, then what was
// submitted, then polls.
func (a *Association) next(now time.Time) *pending {
	switch {
	case len(a.queue) > 0 && a.queue[0].request.priority >= Control:
		return a.queue.pop()
	case a.auto.waits(now):
		return a.auto.next(&a.config)
	case len(a.queue) > 0:
		return a.queue.pop()
	}
	i := a.polls.due(now)
	every := a.config.Polls[i].Interval
	a.polls[i] = a.polls[i].Add(every * (1 + now.Sub(a.polls[i])/every))
	return &pending{request: ReadClasses(a.config.Polls[i].Classes), own: taskPoll}
}

// polls are the times when polls are due; nil while the line is closed.
type polls []time.Time

// due returns the number of a poll that is due, -1 if none is.
func (p polls) due(now time.Time) int {
	for i, at := range p {
		if station.Due(at, now) {
			return i
		}
	}
	return -1
}

// begin sends the question of the current request.
func (a *Association) begin(now time.Time, out *station.Output) {
	if a.current.request.broadcast != 0 {
		a.sendBroadcast(now, out)
		return
	}
	e := a.current.request.exchange
	w := app.NewRequest(out.Scratch(), a.sequence.Single(), e.function())
	if a.config.Tolerance.NarrowIndexes {
		w.Narrow()
	}
	if err := e.write(&w, now); err != nil {
		if errors.Is(err, app.ErrFull) {
			err = fmt.Errorf("%w: %w", ErrTooLong, err)
		}
		a.finish(now, err)
		return
	}
	a.exchanging = exchanging{
		octets: append(a.exchanging.octets[:0], w.Bytes()...), sequence: a.sequence, first: true,
		due: now.Add(a.config.ResponseTimeout),
	}
	a.sequence = a.sequence.Next()
	a.allow(now)
	out.Send(w.Bytes())
	if !e.function().Answered() {
		a.finish(now, nil)
	}
}

// late repeats a question that was not answered in time, or gives up.
func (a *Association) late(now time.Time, out *station.Output) {
	_, command := a.current.request.exchange.(*operate)
	_, measured := a.current.request.exchange.(*timeSync)
	_, restarts := a.current.request.exchange.(*restart)
	clears := a.current.request.exchange.function() == app.FuncFreezeClear // a second one would freeze the zeros
	if x := &a.exchanging; x.first && x.tries < a.config.Retries && !command && !measured && !restarts && !clears {
		x.tries++
		x.due = now.Add(a.config.ResponseTimeout)
		out.Send(x.octets)
		return
	}
	a.finish(now, ErrTimeout)
}

// receiveResponse handles a fragment of an answer. One that does not belong to the
// question is dropped without a confirmation, and so is one with events for another master.
func (a *Association) receiveResponse(now time.Time, f app.Fragment, out *station.Output) {
	x := &a.exchanging
	c := f.Control
	if a.current == nil || c.Sequence() != x.sequence || c.First() != x.first || a.config.LeaveEvents && x.strange(f) {
		return
	}
	if err := f.Check(); err != nil {
		a.config.notify(Notice{Kind: NoticeMalformed, Err: err})
		a.finish(now, fmt.Errorf("%w: %w", ErrMalformed, err))
		return
	}
	if !c.Final() && !c.Confirm() && !a.config.Tolerance.LoosePartial {
		a.finish(now, fmt.Errorf("part of an answer asks for no confirmation: %w", ErrMalformed))
		return
	}
	err := a.accepts(now, f)
	if c.Confirm() {
		a.confirms.settle(now, c, &a.confirms.answer, out)
	}
	x.iin |= f.IIN
	switch {
	case err != nil:
		a.finish(now, err)
	case !c.Final():
		x.first = false
		x.sequence = x.sequence.Next()
		x.due = now.Add(a.config.ResponseTimeout)
		if a.confirms.answer.token != 0 {
			x.due = a.confirms.answer.until
		}
	default:
		a.answered(now, out)
	}
	a.heed(now, f.IIN)
}

// accepts hands a fragment to the handler or the exchange.
func (a *Association) accepts(now time.Time, f app.Fragment) error {
	p := a.current
	p.result.IIN = f.IIN
	if question, ok := p.request.exchange.(*single); ok && question.code == app.FuncRead {
		a.exchanging.brought = a.exchanging.brought || len(f.Objects) > 0
		a.delivery.deliver(now, f, a.confirms.said())
		return nil
	}
	return p.request.exchange.answer(f, now, &p.result)
}

// delivery hands what an outstation says to a handler.
type delivery struct {
	handler    Handler
	outstation link.Address
}

// deliver hands values to the handler. again says that they come again.
func (d *delivery) deliver(now time.Time, f app.Fragment, again bool) {
	info := Info{
		Outstation: d.outstation, Received: now, IIN: f.IIN,
		Unsolicited: f.Control.Unsolicited(), First: f.Control.First(), Final: f.Control.Final(), Again: again,
	}
	d.handler.Begin(info)
	var r app.Reader
	for r.Read(f); r.Next(); {
		d.handler.Header(*r.Header())
	}
	d.handler.End(info)
}

// answered ends an exchange whose answer is complete, or begins the next question.
func (a *Association) answered(now time.Time, out *station.Output) {
	switch iin := a.exchanging.iin; {
	case refused(iin) && a.exchanging.brought: // part of what was asked for
		a.current.result.IIN |= iin
		a.config.notify(Notice{Kind: NoticePartial, Request: a.current.request.name, Err: fmt.Errorf("indications %v: %w", iin, ErrPartial)})
		a.finish(now, nil)
	case refused(iin):
		a.finish(now, fmt.Errorf("indications %v: %w", a.exchanging.iin, ErrRefused))
	case a.current.request.exchange.more():
		a.begin(now, out)
	default:
		a.finish(now, nil)
	}
}

// finish ends the current request.
func (a *Association) finish(now time.Time, err error) {
	p := a.current
	a.current = nil
	a.exchanging.due = time.Time{}
	if a.auto.finish(now, &a.config, p.own, err) {
		a.config.notify(Notice{Kind: NoticeReady})
	}
	a.config.end(p, err)
}

// refused reports whether indications say that the request was not carried out.
func refused(iin app.IIN) bool {
	return iin&(app.IINNoFunction|app.IINObjectUnknown|app.IINParameterError|app.IINAlreadyExecuting) != 0
}

// end gives the submitter the outcome of a request.
func (c *Config) end(p *pending, err error) {
	if err != nil {
		err = fmt.Errorf("outstation %v: %v: %w", c.Outstation, p.request, err)
	}
	if p.own != 0 {
		c.notify(Notice{Kind: NoticeRequest, Request: p.request.name, Err: err})
	}
	if p.done != nil {
		p.done(p.result, err)
	}
}

func (c *Config) notify(n Notice) {
	if c.Notify != nil {
		c.Notify(n)
	}
}
