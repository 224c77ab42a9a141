package dispatch

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Result is the outcome of a command.
type Result struct {
	control.Decision                // without effects
	Output           control.Output // the known state of the point; "" for a command that was not accepted
	Reported         point.Value    // what the device reports, if Output is Confirmed, Differs or Waiting
	// Failed is why the command was not carried out, or why that is unknown, by its fault.Kind; nil while
	// there is no failure.
	Failed error
}

// Command decides a command and puts it into effect. It waits up to wait for the device's response; 0 waits
// only until the command is decided and stored. A command whose outcome does not come in time has the output
// Writing.
//
// An error says that nothing was decided, or that the decision is unknown: Unavailable when the node stops or
// its disk fails, otherwise the error of ctx. A refusal by the model is in the decision.
func (d *Dispatcher) Command(ctx context.Context, c control.Command, wait time.Duration) (Result, error) {
	results, err := d.CommandMany(ctx, []control.Command{c}, wait)
	if err != nil {
		return Result{}, err
	}
	return results[0], nil
}

// CommandMany is Command for several commands at once, each with its own result, in order.
func (d *Dispatcher) CommandMany(ctx context.Context, commands []control.Command, wait time.Duration) ([]Result, error) {
	if len(commands) == 0 {
		return nil, nil
	}
	c := newCall(len(commands))
	commands = slices.Clone(commands)
	err := d.requests.ask(ctx, &job{size: len(commands), changes: true, makes: true, do: func(t *turn) {
		for i := range commands {
			d.loop.command(t, &commands[i], c, i)
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
func (l *loop) command(t *turn, c *control.Command, in *call, place int) {
	c.Value = meant(l.points.points[c.Point].Kind, c.Value)
	decision := l.decideCommand(t, c)
	x := detail{ID: c.ID, Level: c.Level, Value: some(c.Value), Task: c.Task, Reason: c.Reason, Lease: span(c.Lease), Fence: c.Fence}
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
	l.waiters.byPoint[c.Point] = append(l.waiters.byPoint[c.Point], waiter{requester: c.Requester, command: c.ID, result: r, call: in, place: place})
	t.fresh = append(t.fresh, c.Point)
}

// decideCommand lets the model decide, unless the point cannot be commanded.
func (l *loop) decideCommand(t *turn, c *control.Command) control.Decision {
	if l.points.points[c.Point].Heartbeat > 0 {
		return control.Decision{
			Status: control.Refused, Why: control.WhyReadOnly,
			Err: fault.E("dispatch.Command", fault.Refused, string(c.Point), errHeartbeat),
		}
	}
	if v, ok := l.values.Get(c.Point); ok {
		t.add(node, l.model.Observe(t.now, c.Point, v), 0)
	}
	decision := l.model.Command(t.now, *c)
	if decision.Why == control.WhyUnknown && l.points.points[c.Point].Device == "" {
		decision.Err = fault.E("dispatch.Command", fault.NotFound, string(c.Point), errors.New("there is no such point; "+l.points.instead(point.Pattern(c.Point))))
	}
	return decision
}

// meant interprets on and off at a binary point.
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
