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

// confirms are the confirmations of an association that wait.
type confirms struct {
	keep        func(token uint64) bool // Config.Keep
	unsolicited reported
	tokens      uint64
	report      held // the confirmation of the last report
	answer      held // that of the last fragment of an answer
	again       bool // the outstation did not get a confirmation in time
}

// said reports whether what comes now comes again, once.
func (k *confirms) said() bool {
	again := k.again
	k.again = false
	return again
}

// settle confirms a fragment, at once or when what it brought is kept.
func (k *confirms) settle(now time.Time, c app.Control, h *held, out *station.Output) {
	k.tokens++
	if k.keep == nil || !k.keep(k.tokens) {
		*h = held{}
		confirm(c, out)
		return
	}
	*h = held{token: k.tokens, control: c, until: now.Add(KeepMost)}
}

// release sends confirmations of what is kept, and gives up those that waited too long. It reports whether the rest of an
// answer comes now.
func (k *confirms) release(now time.Time, kept []uint64, out *station.Output) (answered bool) {
	for _, token := range kept {
		switch token {
		case k.report.token:
			confirm(k.report.control, out)
			k.report = held{}
		case k.answer.token:
			confirm(k.answer.control, out)
			k.answer = held{}
			answered = true
		}
	}
	if station.Due(k.report.until, now) {
		k.forgetReport()
	}
	if station.Due(k.answer.until, now) {
		k.again = k.report.token == 0
		k.answer = held{}
	}
	return answered
}

// forgetReport has a report that is not kept delivered again when it comes again.
func (k *confirms) forgetReport() {
	if k.report.token != 0 {
		k.again = k.answer.token == 0
		k.report, k.unsolicited = held{}, reported{}
	}
}

// confirm sends the confirmation of a fragment.
func confirm(c app.Control, out *station.Output) {
	control := c.Sequence().Single() | c&app.UNS
	w := app.NewRequest(out.Scratch(), control, app.FuncConfirm)
	out.Send(w.Bytes())
}

// release sends confirmations of what is kept.
func (a *Association) release(now time.Time, out *station.Output) {
	if a.confirms.release(now, a.settled(), out) && a.current != nil && !a.exchanging.first {
		a.exchanging.due = now.Add(a.config.ResponseTimeout)
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
