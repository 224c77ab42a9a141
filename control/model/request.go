package model

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// Command decides a command and puts it into effect.
//
// Refusals: Invalid for a malformed command or a value out of range, with the limit; NotFound for an unknown
// point; Refused for a point that is read-only, requires a reservation or has an interlock that forbids the
// command; Conflict for what another requester holds, or a newer leader commands, with Holders; Unavailable when a bound is reached.
func (m *Model) Command(now control.Instant, c control.Command) control.Decision {
	m.step.EnterAs(now, c.Requester)
	return m.leave(m.answers.Once(c.Ref(), c.Mark(), func() control.Decision {
		t, d, ok := examine(m, &c)
		switch {
		case !ok:
			return d
		case t.spec.Demands().Approval:
			return m.approvals.propose(c)
		}
		return m.accept(t, c)
	}))
}

// accept puts a command into the array of its point.
func (m *Model) accept(t *target, given control.Command) control.Decision {
	o := t.commanded(m)
	c := &command{Command: given, order: m.step.NextOrder(), since: m.step.Now.Wall.UTC(), output: o, fresh: true}
	wins := o.insert(c)
	m.add(c)
	m.step.Fences.Raise(&c.Command)
	if c.Lease > 0 {
		m.lease(c, c.Lease)
	}
	m.step.Event(control.Event{Kind: control.CommandStarted, Holder: c.holder(), Cause: control.CauseCommand, Value: c.Value})
	later := o.follow(control.CauseCommand)
	c.first = wins && o.write.sent.ID != 0
	return control.Decision{Status: control.Accepted, Until: c.holder().Until, Wins: o.array.first() == c, Later: later}
}

// Release ends the selected commands of a requester, including those pending approval; by is the actor, if
// different. A selection that names something and finds nothing is refused as NotFound; releasing everything
// when there is nothing succeeds.
func (m *Model) Release(now control.Instant, requester string, s control.Selection, by string) control.Decision {
	m.step.EnterAs(now, cmp.Or(by, requester))
	chosen, waiting := m.selected(requester, s), m.approvals.of(requester, s)
	if len(chosen)+len(waiting) == 0 && s != (control.Selection{}) {
		return m.leave(control.Refuse("Release", control.WhyUnknown, fault.NotFound, string(s.Point), fmt.Errorf(
			"%s has no such command; it may have ended already", requester)))
	}
	for _, p := range waiting {
		m.approvals.withdraw(p, control.CauseReleased)
	}
	m.endAll(chosen, control.CauseReleased)
	return m.leave(control.Decision{Status: control.Accepted})
}

// Renew extends the selected commands, which must have leases, to a new length from now on; 0 keeps each
// one's length. NotFound says that there are none, so the requester learns that it lost them.
func (m *Model) Renew(now control.Instant, requester string, s control.Selection, length time.Duration) control.Decision {
	const op = "Renew"
	m.step.EnterAs(now, requester)
	chosen := slices.DeleteFunc(m.selected(requester, s), func(c *command) bool { return c.ends == 0 })
	if len(chosen) == 0 {
		return m.leave(control.Refuse(op, control.WhyUnknown, fault.NotFound, string(s.Point), fmt.Errorf(
			"%s has no such command with a lease; command the point again", requester)))
	}
	for _, c := range chosen {
		if d, ok := m.step.Fences.Admit(&c.Command); !ok {
			return m.leave(d)
		}
		longest := cmp.Or(c.output.target.spec.Demands().Longest, control.MaxLength)
		if length < 0 || length > longest {
			return m.leave(control.Refuse(op, control.WhyLease, fault.Invalid, string(c.Point), fmt.Errorf(
				"a lease of %v is out of range; write a duration of at most %v", length, longest)))
		}
	}
	d := control.Decision{Status: control.Accepted}
	for _, c := range chosen {
		m.lease(c, cmp.Or(length, c.Lease))
		h := c.holder()
		if d.Until.IsZero() || h.Until.Before(d.Until) {
			d.Until = h.Until
		}
		m.step.Event(control.Event{Kind: control.LeaseRenewed, Holder: h, Value: c.Value})
	}
	return m.leave(d)
}

// Leave ends everything of a requester: its commands, including those pending approval, and its reservations.
// It is used when an agent died or an identity was revoked, and by the button "release everything of mine";
// overrides stay, because they are a person's decision about the device. The cause is CauseLeft or
// CauseReleased, and by is the actor, if different.
func (m *Model) Leave(now control.Instant, requester string, cause control.Cause, by string) control.Effects {
	m.step.EnterAs(now, cmp.Or(by, requester))
	for _, p := range m.approvals.of(requester, control.Selection{}) {
		m.approvals.withdraw(p, cause)
	}
	m.endAll(m.selected(requester, control.Selection{}), cause)
	m.Disown(requester)
	m.reservations.CancelAll(requester, cause)
	return m.step.Take()
}

// Revert ends every command of points, including those pending approval. A command given after it stays, even
// before the turn of its point. Until of the decision is the turn of the last point. NotFound says that
// nothing is commanded there.
func (m *Model) Revert(now control.Instant, r control.Reversion) control.Decision {
	const op = "Revert"
	s := m.step
	s.EnterAs(now, r.By)
	if err := s.Limits.Named("requester", r.By); err != nil {
		return m.leave(control.Refuse(op, control.WhyInvalid, fault.Invalid, string(r.Path), err))
	}
	if r.Spread < 0 || r.Spread > control.MaxSpread {
		return m.leave(control.Refuse(op, control.WhyInvalid, fault.Invalid, string(r.Path), fmt.Errorf(
			"a spread of %v is out of range; write a duration of at most %v", r.Spread, control.MaxSpread)))
	}
	targets, waiting := m.commandedBelow(r.Path), m.approvals.below(r.Path)
	if len(targets)+len(waiting) == 0 {
		return m.leave(control.Refuse(op, control.WhyUnknown, fault.NotFound, string(r.Path), errors.New(
			"nothing is commanded at or below it; look whether the path is right (voltbus points), and who holds what (voltbus who)")))
	}
	for _, p := range waiting {
		m.approvals.withdraw(p, control.CauseReleased)
	}
	d := control.Decision{Status: control.Accepted, Points: len(targets)}
	for i, t := range targets {
		pause := time.Duration(float64(r.Spread) * float64(i) / float64(len(targets)))
		if pause == 0 {
			m.endAll(t.output.array.all(), control.CauseReleased)
			continue
		}
		for _, c := range t.output.array.commands {
			m.revertLater(c, due{s.Now.Steady + pause, r.By})
		}
		d.Until = s.After(pause)
	}
	return m.leave(d)
}

// Reserve decides a reservation; see reservation.Register.Reserve.
func (m *Model) Reserve(now control.Instant, r control.Reservation) control.Decision {
	m.step.EnterAs(now, r.Requester)
	return m.leave(m.answers.Once(control.Ref{Requester: r.Requester, ID: r.ID}, r.Mark(), func() control.Decision {
		return m.reservations.Reserve(r)
	}))
}

// Cancel ends a reservation of the requester with all its windows, and the commands made under it; by is the
// actor, if different.
func (m *Model) Cancel(now control.Instant, requester, task, by string) control.Decision {
	m.step.EnterAs(now, cmp.Or(by, requester))
	return m.leave(m.reservations.Cancel(requester, task))
}

// Override starts an override, or prolongs the one with the same pattern: the longer end wins. It visits
// every point, so it takes milliseconds for 100,000 points.
func (m *Model) Override(now control.Instant, o control.Override) control.Decision {
	m.step.EnterAs(now, o.Requester)
	return m.leave(m.answers.Once(control.Ref{Requester: o.Requester, ID: o.ID}, o.Mark(), func() control.Decision {
		if d, ok := m.overrides.examine(&o); !ok {
			return d
		}
		return m.overrides.start(o)
	}))
}

// ClearOverride ends an override, whoever started it; by is the actor.
func (m *Model) ClearOverride(now control.Instant, pattern point.Pattern, by string) control.Decision {
	m.step.EnterAs(now, by)
	o := m.byPattern[pattern]
	if o == nil {
		return m.leave(control.Refuse("ClearOverride", control.WhyUnknown, fault.NotFound, string(pattern), errors.New(
			"there is no override with this pattern; write it exactly as in the list of overrides")))
	}
	m.overrides.lift(o, control.CauseReleased)
	return m.leave(control.Decision{Status: control.Accepted})
}
