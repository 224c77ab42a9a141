package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Result is what became of a command.
type Result struct {
	control.Decision                // without effects
	Output           control.Output // what is known of the point; "" of a command that was not accepted
	Reported         point.Value    // what the device says, if Output is Held, Differs or Waiting
	// Failed is why the command was not carried out, or why that is not known, by its fault.Kind; nil
	// while nothing is known against it.
	Failed error
}

// Command decides a command, and has it take effect. It waits up to wait for what the device makes of it;
// 0 is until it is decided and kept. A command whose outcome does not come in time has the output Writing.
//
// The error says that nothing was decided, or that it is not known: Unavailable when the node stops or
// its disk fails, else that of ctx. What the model refuses is in the decision.
func (d *Dispatcher) Command(ctx context.Context, c control.Command, wait time.Duration) (Result, error) {
	results, err := d.CommandMany(ctx, []control.Command{c}, wait)
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// CommandMany is Command for many at once, each with a result of its own, in order.
func (d *Dispatcher) CommandMany(ctx context.Context, commands []control.Command, wait time.Duration) ([]Result, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	c := newCall(len(commands))
	commands = slices.Clone(commands)
	err := d.ask(ctx, &job{size: len(commands), changes: true, makes: true, do: func(t *turn) {
		for i := range commands {
			d.command(t, &commands[i], c, i)
		}
		if wait <= 0 {
			c.leave()
		}
	}})
	if err != nil {
		c.leave()
		return nil, err
	}
	return c.wait(ctx, wait), nil
}

// command decides one command.
func (d *Dispatcher) command(t *turn, c *control.Command, in *call, place int) {
	c.Value = meant(d.points[c.Point].Kind, c.Value)
	decision := d.decideCommand(t, c)
	x := detail{ID: c.ID, Level: c.Level, Value: some(c.Value), Task: c.Task, Reason: c.Reason, Lease: span(c.Lease)}
	if decision.Status == control.Accepted && !decision.Repeat {
		x.Wins = &decision.Wins
	}
	for i := range decision.Writes {
		if w := &decision.Writes[i]; w.Command == c.ID && w.Requester == c.Requester && !w.Read {
			x.Write = w.ID
		}
	}
	t.entries = append(t.entries, entryOfRequest(c.Requester, "control.command", string(c.Point), x, &decision))
	t.add(c.Requester, decision.Effects, x.Write)
	decision.Effects = control.Effects{}
	r := Result{Decision: decision}
	if decision.Status == control.Unfulfilled {
		r.Output, r.Failed = control.Failed, decision.Err
	}
	if decision.Status != control.Accepted {
		in.put(place, r)
		return
	}
	in.note(place, r)
	d.waiters[c.Point] = append(d.waiters[c.Point], waiter{requester: c.Requester, command: c.ID, result: r, call: in, place: place})
	t.fresh = append(t.fresh, c.Point)
}

// decideCommand has the model decide, unless nobody commands the point.
func (d *Dispatcher) decideCommand(t *turn, c *control.Command) control.Decision {
	if d.points[c.Point].Heartbeat > 0 {
		return control.Decision{
			Status: control.Refused, Why: control.WhyReadOnly,
			Err: fault.E("dispatch.Command", fault.Refused, string(c.Point), errHeartbeat),
		}
	}
	if v, ok := d.lastValues.look(c.Point); ok {
		t.add(node, d.model.Observe(t.now, c.Point, v), 0)
	}
	decision := d.model.Command(t.now, *c)
	if decision.Why == control.WhyUnknown && d.points[c.Point].Device == "" {
		decision.Err = fault.E("dispatch.Command", fault.NotFound, string(c.Point), errors.New("there is no such point; "+instead(d, point.Pattern(c.Point))))
	}
	return decision
}

// meant takes on and off for what they are at a point that is one or the other.
func meant(kind point.Kind, v point.Value) point.Value {
	if kind == point.Bool && v.Kind() == point.Text {
		switch strings.ToLower(v.Text()) {
		case "on":
			return point.BoolOf(true)
		case "off":
			return point.BoolOf(false)
		}
	}
	return v
}

var errHeartbeat = errors.New("it is the heartbeat that the node itself gives the device; command another point, or remove heartbeat in the configuration")

// waiter is a command whose caller may wait for the outcome.
type waiter struct {
	requester, command string
	result             Result
	call               *call
	place              int
}

// follow tells those who wait for outcomes of what happened.
func (d *Dispatcher) follow(t *turn) {
	if len(d.waiters) == 0 {
		return
	}
	touched := t.fresh
	for i := range t.events {
		e := &t.events[i]
		list := d.waiters[e.Path]
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
		if list := d.waiters[path]; len(list) > 0 {
			d.followPoint(path, list)
		}
	}
}

// followPoint answers those of a point whose wait is over.
func (d *Dispatcher) followPoint(path point.Path, list []waiter) {
	v, known := d.model.View(path)
	left := list[:0]
	for _, w := range list {
		if !known || !w.waits(&v) || w.call.left() {
			w.call.put(w.place, w.result)
			continue
		}
		left = append(left, w)
	}
	clear(list[len(left):])
	if len(left) == 0 {
		delete(d.waiters, path)
		return
	}
	d.waiters[path] = left
}

// hear takes an event about the command.
func (w *waiter) hear(e *control.Event) {
	switch {
	case e.Kind == control.WriteFailed, e.Kind == control.WriteUnknown:
		w.result.Failed = fault.E("dispatch.write", e.Fault, string(e.Path), errors.New(e.Text))
	case e.Kind == control.CommandEnded && e.Cause == control.CauseDevice:
		w.result.Status, w.result.Why, w.result.Until = control.Unfulfilled, control.WhyDeclined, time.Time{}
	}
}

var errOver = errors.New("it ended before the device took it; see who holds the point")

// waits reports whether the outcome of a command is still to come, and notes what is known.
func (w *waiter) waits(v *control.View) bool {
	r := &w.result
	place := slices.IndexFunc(v.Array, func(s control.Slot) bool {
		return s.Requester == w.requester && s.Command == w.command
	})
	r.Output, r.Wins, r.Later = v.Output, place == 0, v.Later
	if place < 0 {
		if !r.Repeat {
			r.Output, r.Later = control.Failed, time.Time{} // what the point does now is not about this command
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
	case r.Failed == nil && v.Failures > 0: // somebody else's write failed, and this one goes out with the next try
		r.Failed = fault.E("dispatch.write", v.FailedKind, string(v.Spec.Point), errors.New(v.FailedWith))
	}
	return false
}

// call gathers the results of commands for who asked for them together.
type call struct {
	mu      sync.Mutex
	results []Result
	open    int           // results that may still come
	gone    bool          // who asked does not wait any more
	done    chan struct{} // closed when no more come
}

func newCall(n int) *call {
	return &call{results: make([]Result, n), open: n, done: make(chan struct{})}
}

// note takes what is known of a command while its outcome is to come.
func (c *call) note(place int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r.Output = control.Writing
	c.results[place] = r
}

// put takes the result of one command.
func (c *call) put(place int, r Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.results[place] = r
	if c.open--; c.open == 0 {
		close(c.done)
	}
}

// leave says that nobody waits for outcomes.
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

// wait returns the results as far as they are known in time.
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
