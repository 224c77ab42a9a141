package model

import (
	"voltbus/control"
	"voltbus/fault"
	"voltbus/point"
)

// replaced is what preceded a command that the device has not accepted yet, to be restored if it declines.
type replaced struct {
	prior     *command // on the same level; nil if it was free
	reverting bool     // the point was reverting
}

// replacedBy returns what a new command replaces; old is the command on its level.
func replacedBy(o *output, old *command) replaced {
	switch {
	case old == nil:
		return replaced{reverting: o.reverting}
	case old.fresh && old.replaced.prior != nil: // that is the device's state
		return replaced{prior: old.replaced.prior}
	}
	before := replaced{prior: old, reverting: old.replaced.reverting}
	old.replaced = replaced{}
	return before
}

// taken records that the device accepted a command.
func (w *writer) taken(sent *control.Write) {
	o := w.output
	c := o.m.byRef[control.Ref{Requester: sent.Requester, ID: sent.Command}]
	if c != nil && c.output == o && c.fresh {
		c.fresh, c.replaced, o.undo = false, replaced{}, false
		o.touch()
	}
}

// declined ends the command that the device declined, if the device has never accepted it, and restores what
// preceded it. A temporary refusal ends the command only if it is its first outcome: then its requester learns of
// it, while a command accepted before is retried. declined reports whether something else than a retry is to be
// done, which is then in progress.
func (w *writer) declined(sent *control.Write, result *control.Outcome, final bool) bool {
	o := w.output
	c := o.m.byRef[control.Ref{Requester: sent.Requester, ID: sent.Command}]
	switch {
	case !final && !result.Declined:
		return false
	case c == nil || c.output != o:
		want, ok := o.commanded("")
		if !sent.Read {
			o.array.drop(sent)
		}
		if sent.Read || !ok || want.Release == sent.Release && want.Value == sent.Value {
			return false
		}
	case !c.fresh, !c.first && (sent.Read || !final):
		return false
	default:
		w.undo(c, result.Err)
	}
	w.failures = 0
	o.follow(control.CauseDevice)
	return true
}

// undo ends a command that the device has not accepted, and restores what preceded it.
func (w *writer) undo(c *command, err error) {
	o := w.output
	o.m.remove(c, control.CauseDevice)
	o.m.answers.Replace(c.Ref(), control.Decision{
		Status: control.Unfulfilled, Why: control.WhyDeclined, Err: fault.E("control.Command", fault.KindOf(err), string(c.Point), err),
	})
	over := false // the preceding command would have ended meanwhile
	if c.replaced.prior != nil {
		over = !w.putBack(c.replaced.prior)
	}
	w.trouble = trouble{}
	o.reverting = (over || c.replaced.reverting) && o.array.len() == 0
	if commanded := o.isCommanded(); !commanded && o.partial {
		o.reverting, o.undo = true, true
	} else if !commanded {
		o.state, o.before = control.Idle, point.Value{}
		return
	}
	if o.held.Kind() == point.None || o.partial {
		o.state = control.Failed // it was never set, or lacks the value it was set to: the commanded value is written
	} else {
		o.feedback.doubt()
	}
}

// remains reads a point that lost its value to a part of another one, since the device also declines the value that it
// should have. It reports whether the read is in progress.
func (w *writer) remains(sent *control.Write) bool {
	o, f := w.output, &w.output.feedback
	if c := o.array.first(); !o.partial || sent.Read || c != nil && c.fresh { // a command that the device has never accepted is handled by itself
		return false
	}
	o.array.tried(true)
	f.doubt()
	if f.moving = false; f.assertAt <= o.m.step.Now.Steady {
		f.postpone()
	}
	o.follow(control.CauseCheck)
	return true
}

// putBack restores a command that was replaced by one that the device declined, unless it would have ended
// meanwhile. It reports whether it did.
func (w *writer) putBack(c *command) bool {
	o, m := w.output, w.output.m
	spec := o.target.spec
	switch {
	case c.stops() > 0 && c.stops() <= m.step.Now.Steady, m.byRef[c.Ref()] != nil:
		return false
	case c.Task != "" && !m.reservations.Holds(c.Task, c.Point):
		return false
	case spec.Fits(c.Value) != nil, m.interlocks.Check(spec, c.Value) != nil:
		return false
	}
	c.output = o
	o.array.put(c)
	m.add(c)
	m.arm(c)
	m.step.Event(control.Event{Kind: control.CommandRestored, Holder: c.holder(), Cause: control.CauseDevice, Value: c.Value})
	return true
}
