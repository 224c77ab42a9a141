package dispatch

import (
	"cmp"
	"context"
	"time"

	"voltbus/audit"
	"voltbus/control"
	"voltbus/device"
	"voltbus/point"
)

// request is a request for the model to decide, and its audit entry.
type request struct {
	actor, action, subject string
	detail                 detail
	makes                  bool
	silent                 bool // it is audited only if refused
	decide                 func(now control.Instant) control.Decision
}

// decide lets the model decide a request. The decision is returned without effects.
func (d *Dispatcher) decide(ctx context.Context, r request) (control.Decision, error) {
	var decision control.Decision
	err := d.requests.ask(ctx, &job{size: 1, changes: true, makes: r.makes, do: func(t *turn) {
		decision = r.decide(t.now)
		if !r.silent || decision.Status == control.Refused {
			t.entries = append(t.entries, entryOfRequest(r.actor, "control."+r.action, r.subject, r.detail, &decision))
		}
		t.add(r.actor, decision.Effects, 0)
		decision.Effects = control.Effects{}
	}})
	if err != nil {
		return control.Decision{}, err
	}
	return decision, nil
}

// Release ends the chosen commands of a requester; by is the actor, if different. See model.Model.Release;
// errors are as for Command.
func (d *Dispatcher) Release(ctx context.Context, requester string, s control.Selection, by string) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: cmp.Or(by, requester), action: "release", subject: cmp.Or(string(s.Point), s.Task, requester),
		detail: detail{ID: s.Command, Level: s.Level, Task: s.Task, Requester: other(requester, by)},
		decide: func(now control.Instant) control.Decision {
			decision := d.loop.model.Release(now, requester, s, by)
			if decision.Why == control.WhyUnknown {
				if err := d.loop.points.covering(point.Pattern(s.Point)); err != nil {
					decision.Err = err
				}
			}
			return decision
		},
	})
}

// Revert ends every command at and below a path, whoever gave it. Errors are as for Command.
func (d *Dispatcher) Revert(ctx context.Context, r control.Reversion) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: r.By, action: "revert", subject: string(r.Path), detail: detail{Spread: span(r.Spread)},
		decide: func(now control.Instant) control.Decision { return d.loop.model.Revert(now, r) },
	})
}

// other returns the requester if the actor is a different one.
func other(requester, by string) string {
	if by == "" || by == requester {
		return ""
	}
	return requester
}

// Renew extends leases of a requester to a new length from now on; 0 keeps each one's length. It is audited
// only if refused. Errors are as for Command.
func (d *Dispatcher) Renew(ctx context.Context, requester string, s control.Selection, length time.Duration) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: requester, action: "renew", subject: cmp.Or(string(s.Point), s.Task), silent: true,
		detail: detail{ID: s.Command, Level: s.Level, Task: s.Task, Lease: span(length)},
		decide: func(now control.Instant) control.Decision { return d.loop.model.Renew(now, requester, s, length) },
	})
}

// Reserve decides a reservation. A path at and below which there is no point is refused as NotFound. Errors are as for Command.
func (d *Dispatcher) Reserve(ctx context.Context, r control.Reservation) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: r.Requester, action: "reserve", subject: r.Task, makes: true,
		detail: detail{ID: r.ID, Reason: r.Reason, Priority: r.Priority, Windows: r.Windows},
		decide: func(now control.Instant) control.Decision {
			for i := range r.Windows {
				if err := d.loop.points.covering(point.Pattern(r.Windows[i].Path)); err != nil {
					return nothingCovered(err)
				}
			}
			return d.loop.model.Reserve(now, r)
		},
	})
}

// Cancel ends a reservation of the requester; by is the actor, if different. Errors are as for Command.
func (d *Dispatcher) Cancel(ctx context.Context, requester, task, by string) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: cmp.Or(by, requester), action: "cancel", subject: task, detail: detail{Requester: other(requester, by)},
		decide: func(now control.Instant) control.Decision { return d.loop.model.Cancel(now, requester, task, by) },
	})
}

// Override takes points out of control. Devices continue to be read. A pattern that no point matches is
// refused as NotFound. Errors are as for Command.
func (d *Dispatcher) Override(ctx context.Context, o control.Override) (control.Decision, error) {
	x := detail{ID: o.ID, Reason: o.Reason, Failsafe: o.Failsafe, Lease: span(o.Length)}
	return d.decide(ctx, request{
		actor: o.Requester, action: "override", subject: string(o.Pattern), makes: true, detail: x,
		decide: func(now control.Instant) control.Decision {
			if err := d.loop.points.covering(o.Pattern); err != nil {
				return nothingCovered(err)
			}
			return d.loop.model.Override(now, o)
		},
	})
}

// ClearOverride ends an override, whoever started it; by is the actor. Errors are as for Command.
func (d *Dispatcher) ClearOverride(ctx context.Context, pattern point.Pattern, by string) (control.Decision, error) {
	return d.decide(ctx, request{
		actor: by, action: "clear-override", subject: string(pattern),
		decide: func(now control.Instant) control.Decision { return d.loop.model.ClearOverride(now, pattern, by) },
	})
}

// Approve decides a pending command on the word of another person. Errors are as for Command.
func (d *Dispatcher) Approve(ctx context.Context, a control.Approval) (control.Decision, error) {
	action := "approve"
	if !a.Agree {
		action = "disapprove"
	}
	return d.decide(ctx, request{
		actor: a.By, action: action, subject: a.Command, makes: a.Agree, detail: detail{ID: a.Command, Requester: a.Requester},
		decide: func(now control.Instant) control.Decision { return d.loop.model.Approve(now, a) },
	})
}

// Leave ends everything of a requester: its commands, including those pending approval, and its tasks. The
// cause is control.CauseLeft for a requester that has disconnected or been revoked, control.CauseReleased if
// it asked for it; by is the actor, if different. Errors are as for Command.
func (d *Dispatcher) Leave(ctx context.Context, requester string, cause control.Cause, by string) error {
	return d.requests.ask(ctx, &job{size: 1, changes: true, do: func(t *turn) {
		d.loop.leave(t, requester, cause, cmp.Or(by, requester))
	}})
}

func (l *loop) leave(t *turn, requester string, cause control.Cause, by string) {
	effects := l.model.Leave(t.now, requester, cause, by)
	x := detail{Cause: cause}
	t.entries = append(t.entries, audit.Entry{
		Actor: by, Action: "control.leave", Subject: requester, Outcome: string(control.Accepted), Detail: x.json(),
	})
	t.add(by, effects, 0)
}

// Declare sets exactly the points that the dispatcher knows. Commands of points that stay continue; those that
// no longer fit end. After an error, which is Invalid, nothing has changed.
func (d *Dispatcher) Declare(ctx context.Context, points []Point) error {
	var invalid error
	err := d.requests.ask(ctx, &job{size: 1, changes: true, do: func(t *turn) {
		var effects control.Effects
		if effects, invalid = d.loop.declare(t.now, points); invalid == nil {
			t.add(node, effects, 0)
		}
	}})
	if err != nil {
		return err
	}
	return invalid
}

// Read reads points now, and returns one reading each, in order. It does not wait for requests.
func (d *Dispatcher) Read(ctx context.Context, paths []point.Path) []device.Reading {
	return d.cfg.Devices.ReadMany(ctx, paths)
}
