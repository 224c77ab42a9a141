package master

import (
	"context"
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// KeepMost is how long a confirmation waits for what it confirms to be kept. An outstation waits 5 to 10 s for it
// (IEEE 1815-2012 clause 5.1.1.1.1 leaves the time to the user), and then says the events again.
const KeepMost = 10 * time.Second

// held is a confirmation that waits until what it confirms is kept.
type held struct {
	token   uint64 // 0: none waits
	control app.Control
	until   time.Time
}

// Kept has the confirmation sent for which Config.Keep got the token. It may be called from any goroutine, and does
// nothing if the line was closed or KeepMost has passed since.
func (a *Association) Kept(token uint64) {
	a.mu.Lock()
	a.kept = append(a.kept, token)
	a.mu.Unlock()
	a.poke()
}

// settle confirms a fragment, at once or when what it brought is kept.
func (a *Association) settle(now time.Time, c app.Control, h *held, out *station.Output) {
	a.tokens++
	if a.config.Keep == nil || !a.config.Keep(a.tokens) {
		*h = held{}
		a.confirm(c, out)
		return
	}
	*h = held{token: a.tokens, control: c, until: now.Add(KeepMost)}
}

// release sends confirmations of what is kept, and gives up those that waited too long.
func (a *Association) release(now time.Time, out *station.Output) {
	a.mu.Lock()
	kept := a.kept
	a.kept = nil
	a.mu.Unlock()
	for _, token := range kept {
		switch token {
		case a.report.token:
			a.confirm(a.report.control, out)
			a.report = held{}
		case a.answer.token:
			a.confirm(a.answer.control, out)
			a.answer = held{}
			if a.current != nil && !a.exchanging.first { // the rest of the answer comes now
				a.exchanging.due = now.Add(a.config.ResponseTimeout)
			}
		}
	}
	if station.Due(a.report.until, now) {
		a.forgetReport()
	}
	if station.Due(a.answer.until, now) {
		a.again = a.report.token == 0
		a.answer = held{}
	}
}

// forgetReport has a report that is not kept delivered again when it comes again.
func (a *Association) forgetReport() {
	if a.report.token != 0 {
		a.again = a.answer.token == 0
		a.report, a.unsolicited = held{}, reported{}
	}
}

// DoWhile is Do, and calls f on the goroutine of its caller whenever there is a signal meanwhile.
func (a *Association) DoWhile(ctx context.Context, r *Request, signal <-chan struct{}, f func()) (Result, error) {
	type end struct {
		result Result
		err    error
	}
	ended := make(chan end, 1)
	p := &pending{request: r, done: func(result Result, err error) { ended <- end{result, err} }}
	a.submit(p)
	for {
		select {
		case e := <-ended:
			return e.result, e.err
		case <-signal:
			f()
		case <-ctx.Done():
			p.canceled.Store(true)
			return Result{}, fmt.Errorf("outstation %v: %v: %w", a.config.Outstation, r, context.Cause(ctx))
		}
	}
}
