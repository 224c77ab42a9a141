package model

import (
	"math"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// output is the value to which a commanded point is set; it makes the point follow the commanded value.
type output struct {
	m         *Model
	target    *target
	array     array
	before    point.Value    // observed before the first command
	reverting bool           // the last command ended, and the revert is not confirmed
	failsafe  bool           // the revert is sent although an override holds the point
	undo      bool           // the revert restores the value from before a command that the device accepted in part
	partial   bool           // the device may hold a part of a value that it declined
	insist    bool           // the value was just commanded: the point is checked even if it is remembered as following
	state     control.Output //
	held      point.Value    // what the point is set to, if known
	reported  point.Value    // what the device last answered
	placed    control.Placement
	changedAt time.Duration // when held changed; 0: never
	turnedAt  time.Duration // when held turned from zero to non-zero or back; 0: never
	timer     step.Timer
	write     writer
	feedback  feedback
}

// Due follows a commanded value that was held back, or retries a write.
func (o *output) Due() {
	o.array.tried(true) // the caller has the answer that it is waiting
	o.follow(control.CauseRetry)
}

// commanded returns the value to which the point should be set now; false if none is commanded.
func (o *output) commanded(cause control.Cause) (control.Write, bool) {
	spec := o.target.spec
	w := control.Write{Point: spec.Point, Cause: cause}
	if c := o.array.first(); c != nil {
		w.Value, w.Level, w.Requester, w.Command = c.Value, c.Level, c.Requester, c.ID
		return w, true
	}
	if !o.reverting {
		return w, false
	}
	switch {
	case (spec.Revert == control.RevertBefore || o.undo) && o.before.Kind() != point.None:
		w.Value = o.before
	case spec.Default.Kind() != point.None:
		w.Value = spec.Default
	default:
		w.Release = true
	}
	return w, true
}

// isCommanded reports whether the point should be set to something now.
func (o *output) isCommanded() bool { return o.array.len() > 0 || o.reverting }

// follow makes the point follow its commanded value, as far as nothing holds it back, and returns when it can
// continue if a rate or minimum time delays it.
func (o *output) follow(cause control.Cause) (later time.Time) {
	s := o.m.step
	s.Steady.Stop(&o.timer)
	defer o.m.deviations.judge(o)
	want, ok := o.commanded(cause)
	switch {
	case !ok || o.write.sent.ID != 0:
		return time.Time{}
	case o.isFrozen():
		return time.Time{}
	case o.state == control.Unknown:
		o.ask(want)
		return time.Time{}
	case o.state == control.Mismatch && !o.insist && o.feedback.assert:
		if s.Now.Steady < o.feedback.assertAt {
			return o.resumeAt(o.feedback.assertAt)
		}
		o.feedback.assertNow()
		want.Cause = control.CauseAssert
	}
	wait := o.restrain(&want)
	if wait > 0 {
		later = o.resumeAt(wait)
	}
	switch {
	case !o.follows(&want):
		o.write.send(want)
	case o.insist && wait == 0:
		o.state = control.Unknown
		o.ask(want)
	case o.reverting && wait == 0 && o.state != control.Mismatch:
		o.reverted()
	}
	return later
}

// isFrozen reports whether an override keeps the point from following its commanded value.
func (o *output) isFrozen() bool {
	return o.target.frozen > 0 && (!o.failsafe || o.array.len() > 0)
}

// resumeAt makes the point follow at a steady moment, and returns that moment.
func (o *output) resumeAt(at time.Duration) time.Time {
	o.m.step.Steady.Set(&o.timer, o, int64(at))
	return o.m.step.Now.At(at)
}

// ask requests a read of the point.
func (o *output) ask(want control.Write) {
	want.Read = true
	if o.feedback.checking && !o.insist {
		want.Cause = control.CauseCheck
	}
	o.write.send(want)
}

// follows reports whether the point was set to the commanded value, as far as is remembered. A different
// report of the device is left alone until a new request.
func (o *output) follows(want *control.Write) bool {
	switch {
	case want.Release || !o.placed.Has(o.target.spec, want):
		return false
	case o.state == control.Confirmed:
		return o.target.spec.Alike(o.held, want.Value)
	case o.state == control.Differs:
		return !o.insist && o.target.spec.Alike(o.held, want.Value)
	}
	return o.state == control.Mismatch && !o.insist
}

// restrain limits the commanded value to what may be written now, and returns the steady time from which more
// may be; 0 if all of it may.
func (o *output) restrain(want *control.Write) (wait time.Duration) {
	now, limits, policy := o.m.step.Now.Steady, &o.m.step.Limits, o.target.spec.Demands()
	held, known := o.held.Number()
	wanted, numeric := want.Value.Number()
	passes := func(most control.Level) bool { return want.Level > 0 && want.Level <= most }
	if !known || !numeric || want.Release || held == wanted {
		return 0
	}
	if (held != 0) != (wanted != 0) && o.turnedAt > 0 && !passes(limits.Protection) {
		least := policy.MinOff
		if held != 0 {
			least = policy.MinOn
		}
		if until := o.turnedAt + least; now < until {
			want.Value = o.held
			return until
		}
	}
	rate := policy.Rate
	if rate.Per == 0 || passes(limits.Emergency) {
		return 0
	}
	if until := o.changedAt + rate.Per; o.changedAt > 0 && now < until {
		want.Value = o.held
		return until
	}
	if math.Abs(wanted-held) <= rate.Most {
		return 0
	}
	want.Value = stepped(o.target.spec.Kind, held+math.Copysign(rate.Most, wanted-held), wanted > held)
	return now + rate.Per
}

// stepped converts a step to a value of the point's kind; whole numbers step by less rather than by more.
func stepped(kind point.Kind, x float64, up bool) point.Value {
	if kind != point.Int {
		return point.FloatOf(x)
	}
	if up {
		return point.IntOf(int64(math.Floor(x)))
	}
	return point.IntOf(int64(math.Ceil(x)))
}

// set records what the point is set to, and when that changed.
func (o *output) set(v point.Value) {
	if control.Same(o.held, v) {
		o.held = v
		return
	}
	before, known := o.held.Number()
	after, numeric := v.Number()
	o.held, o.changedAt = v, max(o.m.step.Now.Steady, 1)
	if numeric && (!known || (before != 0) != (after != 0)) {
		o.turnedAt = o.changedAt
	}
}

// reverted records that the point has reverted and nothing is commanded.
func (o *output) reverted() {
	o.reverting, o.failsafe, o.undo, o.partial, o.before = false, false, false, false, point.Value{}
	o.touch()
}

// touch marks the record of the point as changed.
func (o *output) touch() { o.m.step.Touch(step.Point, string(o.target.spec.Point)) }

// insert adds a new command. What it replaces ends, to come back if the device declines the new one.
func (o *output) insert(c *command) (wins bool) {
	old := o.array.at(c.Level)
	c.replaced = replacedBy(o, old)
	if old != nil {
		old.first = false
		o.m.remove(old, c.Replaces(&old.Command))
	} else if o.array.len() == 0 && !o.reverting {
		o.before = o.target.observed
		if o.state == control.Idle {
			o.held = o.target.observed
		}
	}
	wins = o.array.put(c)
	o.reverting, o.insist = false, o.insist || wins
	return wins
}
