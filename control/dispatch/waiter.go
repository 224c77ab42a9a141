package dispatch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// waiter is a command whose caller may wait for the outcome.
type waiter struct {
	requester, command string
	result             Result
	call               *call
	place              int
}

// waiters are the commands whose callers may wait for outcomes.
type waiters struct{ byPoint map[point.Path][]waiter }

// follow passes events to the callers waiting for outcomes.
func (w *waiters) follow(t *turn, view func(point.Path) (control.View, bool)) {
	if len(w.byPoint) == 0 {
		return
	}
	touched := t.fresh
	for i := range t.events {
		e := &t.events[i]
		list := w.byPoint[e.Path]
		if len(list) == 0 {
			continue
		}
		touched = append(touched, e.Path)
		for k := range list {
			if list[k].requester == e.Requester && list[k].command == e.Command {
				list[k].hear(e)
			}
		}
	}
	for _, path := range touched {
		if list := w.byPoint[path]; len(list) > 0 {
			w.followPoint(path, list, view)
		}
	}
}

// followPoint answers the waiters of a point whose wait is over.
func (w *waiters) followPoint(path point.Path, list []waiter, view func(point.Path) (control.View, bool)) {
	v, known := view(path)
	left := list[:0]
	for _, one := range list {
		if !known || !one.waits(&v) || one.call.left() {
			one.call.put(one.place, one.result)
			continue
		}
		left = append(left, one)
	}
	clear(list[len(left):])
	if len(left) == 0 {
		delete(w.byPoint, path)
		return
	}
	w.byPoint[path] = left
}

// hear handles an event of the command.
func (w *waiter) hear(e *control.Event) {
	switch {
	case e.Kind == control.WriteFailed, e.Kind == control.WriteUnknown:
		w.result.Failed = fault.E("dispatch.write", e.Fault, string(e.Path), errors.New(e.Text))
	case e.Kind == control.CommandEnded && e.Cause == control.CauseDevice:
		w.result.Status, w.result.Why, w.result.Until = control.Unfulfilled, control.WhyDeclined, time.Time{}
	}
}

var errOver = errors.New("it ended before the device took it; see who holds the point")

// waits reports whether the outcome of a command is still pending, and records what is known.
func (w *waiter) waits(v *control.View) bool {
	r := &w.result
	place := slices.IndexFunc(v.Array, func(s control.Slot) bool {
		return s.Requester == w.requester && s.Command == w.command
	})
	r.Output, r.Wins, r.Later = v.Output, place == 0, v.Later
	if place < 0 {
		if !r.Repeat {
			r.Output, r.Later = control.Failed, time.Time{} // what the point does now does not concern this command
		}
		if r.Failed == nil && !r.Repeat {
			r.Failed = fault.E("dispatch.write", fault.Conflict, string(v.Spec.Point), errOver)
		}
		return false
	}
	switch {
	case place > 0:
		return false
	case v.Output == control.Writing, v.Output == control.Unknown && r.Failed == nil:
		return true
	case v.Output == control.Confirmed || v.Output == control.Differs || v.Output == control.Waiting:
		r.Failed, r.Reported = nil, v.Reported
	case r.Failed == nil && v.Failures > 0: // another requester's write failed, and this one goes out with the next attempt
		r.Failed = fault.E("dispatch.write", v.FailedKind, string(v.Spec.Point), errors.New(v.FailedWith))
	}
	return false
}

// call collects the results of the commands of one request.
type call struct {
	mu      sync.Mutex
	results []Result
	open    int           // pending results
	gone    bool          // the caller no longer waits
	done    chan struct{} // closed when none are pending
}

func newCall(n int) *call {
	return &call{results: make([]Result, n), open: n, done: make(chan struct{})}
}

// note records the known state of a command while its outcome is pending.
func (c *call) note(place int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Output = control.Writing
	c.results[place] = r
}

// put records the result of one command.
func (c *call) put(place int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[place] = r
	if c.open--; c.open == 0 {
		close(c.done)
	}
}

// leave records that the caller no longer waits for outcomes.
func (c *call) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
}

func (c *call) left() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.gone
}

// wait returns the results, as far as they are known in time.
func (c *call) wait(ctx context.Context, longest time.Duration) []Result {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.results
	case <-ctx.Done():
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gone = true
	return slices.Clone(c.results)
}
