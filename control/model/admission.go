package model

import (
	"errors"
	"fmt"

	"voltbus/control"
	"voltbus/fault"
)

// admission checks one command, and refuses it if it cannot be accepted now.
type admission struct {
	m       *Model
	target  *target
	command *control.Command
}

// examine refuses a command that cannot be accepted now. It sets the task to which c belongs.
func examine(m *Model, c *control.Command) (*target, control.Decision, bool) {
	a := admission{m: m, target: m.targets[c.Point], command: c}
	for _, check := range []func() (control.Decision, bool){a.writable, a.wellFormed, func() (control.Decision, bool) { return m.step.Fences.Admit(c) }, a.notOverridden, a.reserved, a.interlocked, a.levelFree} {
		if d, ok := check(); !ok {
			return nil, d, false
		}
	}
	return a.target, control.Decision{}, true
}

// refuse refuses the command.
func (a *admission) refuse(why control.Why, kind fault.Kind, err error) (control.Decision, bool) {
	return control.Refuse("Command", why, kind, string(a.command.Point), err), false
}

// writable refuses a command to a point that is unknown or read-only.
func (a *admission) writable() (control.Decision, bool) {
	switch {
	case a.target == nil:
		return a.refuse(control.WhyUnknown, fault.NotFound, errors.New("there is no such point; look it up in the list of points"))
	case !a.target.spec.Writable:
		return a.refuse(control.WhyReadOnly, fault.Refused, errors.New("it is read-only; declare it writable if the device allows it"))
	}
	return control.Decision{}, true
}

// wellFormed refuses a malformed command.
func (a *admission) wellFormed() (control.Decision, bool) {
	if why, err := a.malformed(); err != nil {
		return a.refuse(why, fault.Invalid, err)
	}
	return control.Decision{}, true
}

// malformed returns what is malformed in the command.
func (a *admission) malformed() (control.Why, error) {
	c, spec, limits := a.command, a.target.spec, &a.m.step.Limits
	for _, name := range []struct{ what, text string }{{"identifier", c.ID}, {"requester", c.Requester}} {
		if err := limits.Named(name.what, name.text); err != nil {
			return control.WhyInvalid, err
		}
	}
	if a.m.byRef[c.Ref()] != nil || a.m.proposals[c.Ref()] != nil {
		return control.WhyReused, errors.New("this identifier stands for a command that is still there; make a new one for each")
	}
	longest, tooLong := spec.Demands().Longest, limits.Explained(c.Reason)
	err := spec.Fits(c.Value)
	if err == nil {
		_, err = spec.Encoded(c.Value)
	}
	switch {
	case err != nil:
		return control.WhyRange, err
	case c.Level == limits.Protection+1 && spec.Demands().Minimal():
		return control.WhyInvalid, fmt.Errorf("level %d is kept for the minimum on and off times of the point; take a more urgent one to pass them, or a less urgent one", c.Level)
	case c.Level < 1 || c.Level > control.Levels:
		return control.WhyInvalid, fmt.Errorf("there is no level %d; write one from 1 (most urgent) to %d", c.Level, control.Levels)
	case tooLong != nil:
		return control.WhyInvalid, tooLong
	case c.Fence.Validate(limits) != nil:
		return control.WhyInvalid, c.Fence.Validate(limits)
	case c.Lease < 0 || c.Lease > control.MaxLength:
		return control.WhyLease, fmt.Errorf("a lease of %v is out of range; write a duration of at most %v", c.Lease, control.MaxLength)
	case longest > 0 && (c.Lease == 0 || c.Lease > longest):
		return control.WhyLease, fmt.Errorf("the point demands a lease of at most %v; write one and renew it", longest)
	}
	return "", nil
}

// notOverridden refuses a command to a point held by an override.
func (a *admission) notOverridden() (control.Decision, bool) {
	if a.target.frozen == 0 {
		return control.Decision{}, true
	}
	d, _ := a.refuse(control.WhyOverridden, fault.Conflict, errors.New("an override holds it; wait for its end or clear it"))
	d.Holders = a.m.overrides.on(a.command.Point)
	return d, false
}

// reserved refuses a command that a reservation, or a missing reservation, forbids.
func (a *admission) reserved() (control.Decision, bool) {
	c := a.command
	if c.Level <= a.m.step.Limits.Emergency && c.Task == "" {
		return control.Decision{}, true
	}
	active, is := a.m.reservations.Active(c.Point)
	switch {
	case !is && c.Task != "":
		return a.refuse(control.WhyUnreserved, fault.Refused, fmt.Errorf(
			"the task %q has no active window for it; wait for the window or leave the task out", c.Task))
	case !is && a.target.spec.Demands().Reservation:
		return a.refuse(control.WhyUnreserved, fault.Refused, errors.New("it demands a reservation; reserve the point or its device first"))
	case !is:
		return control.Decision{}, true
	case active.Requester != c.Requester || c.Task != "" && c.Task != active.Task:
		d, _ := a.refuse(control.WhyReserved, fault.Conflict, fmt.Errorf(
			"%s has reserved %s for the task %q until %s; wait, or reserve it with priority high",
			active.Requester, active.Path, active.Task, control.ClockText(active.Until)))
		d.Holders = []control.Holder{active}
		return d, false
	}
	c.Task = active.Task
	return control.Decision{}, true
}

// interlocked refuses a command that an interlock of the point does not allow.
func (a *admission) interlocked() (control.Decision, bool) {
	if err := a.m.interlocks.Check(a.target.spec, a.command.Value); err != nil {
		return a.refuse(control.WhyInterlock, fault.Refused, err)
	}
	return control.Decision{}, true
}

// levelFree refuses a command to a level that another requester holds. The requester that reserved the point
// takes the level over, and so does a newer leader of the same group.
func (a *admission) levelFree() (control.Decision, bool) {
	c := a.command
	if a.target.output == nil {
		return control.Decision{}, true
	}
	old := a.target.output.array.at(c.Level)
	if old == nil || old.Requester == c.Requester || c.Succeeds(&old.Command) || c.Task != "" && c.Level > a.m.step.Limits.Emergency {
		return control.Decision{}, true
	}
	until := "it is released"
	if at := old.stops(); at > 0 {
		until = control.ClockText(a.m.step.Now.At(at))
	}
	d, _ := a.refuse(control.WhyHeld, fault.Conflict, fmt.Errorf(
		"%s holds level %d until %s; take another level, or ask for its release", old.Requester, c.Level, until))
	d.Holders = []control.Holder{old.holder()}
	return d, false
}
