package control

import (
	"math"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Output says what is known about what a point was set to.
type Output string

// The states.
const (
	Idle    Output = "idle"    // never commanded, or given back
	Writing Output = "writing" // a write is under way
	Held    Output = "held"    // the device reported the value that was written
	Differs Output = "differs" // the device took the write, and reports another value
	Failed  Output = "failed"  // the write was not carried out, and is tried again
	Unknown Output = "unknown" // what the point holds is not known: an answer was lost, or it cannot be read
	// Mismatch says that the device held what was written, and now reports another value.
	Mismatch Output = "mismatch"
	// Waiting says that the point has what it was set to before, because a rate, a minimum time, a pause or an
	// override holds the wish back.
	Waiting Output = "waiting"
)

// target is a point that is known.
type target struct {
	spec     *Spec
	observed point.Value // the last value that was read
	away     bool        // it could not be read since
	frozen   int         // overrides that hold it
	work     *work       // nil until it is first commanded
}

// work is the state of a point that was commanded.
type work struct {
	commands  []*command    // by level
	before    point.Value   // observed before the first command
	reverting bool          // the last command ended, and the revert is not confirmed
	failsafe  bool          // the revert goes out although an override holds the point
	undo      bool          // the revert is to what the point had before a command of which the device has a part
	partial   bool          // the device may have a part of a value that it declined
	insist    bool          // somebody has just asked for the wish: that the point follows it is not taken from memory
	state     Output        //
	held      point.Value   // what the point is set to, as far as known
	reported  point.Value   // what the device last answered
	changedAt time.Duration // when held changed; 0: never
	turnedAt  time.Duration // when held turned from zero to non-zero or back; 0: never
	notBefore time.Duration // nothing is sent before; 0: at once
	sent      Write         // the write that is under way; its ID is 0 if there is none
	failures  int           // in a row
	trouble   trouble       // what was told of them
	text      string        // of the last failure
	kind      fault.Kind    // of the last failure
	owner     *target
	alarm     alarm
	drift
}

// ring follows a wish that was held back, or tries a write again.
func (w *work) ring(m *Model) {
	w.owner.tried(true) // who asked has the answer that it waits
	m.settle(w.owner, CauseRetry)
}

func (t *target) working() *work {
	if t.work == nil {
		t.work = &work{state: Idle, owner: t}
	}
	return t.work
}

// at returns the command of a level, or nil.
func (t *target) at(l Level) *command {
	if t.work != nil {
		for _, c := range t.work.commands {
			if c.Level == l {
				return c
			}
		}
	}
	return nil
}

// at0 returns the command that wins, or nil.
func (t *target) at0() *command {
	if t.work == nil || len(t.work.commands) == 0 {
		return nil
	}
	return t.work.commands[0]
}

// wish returns what the point should be set to now; false if nothing is wished.
func (t *target) wish(cause Cause) (Write, bool) {
	w := Write{Point: t.spec.Point, Cause: cause}
	if c := t.at0(); c != nil {
		w.Value, w.Level, w.Requester, w.Command = c.Value, c.Level, c.Requester, c.ID
		return w, true
	}
	if t.work == nil || !t.work.reverting {
		return w, false
	}
	switch {
	case (t.spec.Revert == RevertBefore || t.work.undo) && t.work.before.Kind() != point.None:
		w.Value = t.work.before
	case t.spec.Default.Kind() != point.None:
		w.Value = t.spec.Default
	default:
		w.Release = true
	}
	return w, true
}

// settle has the point follow its wish, as far as nothing holds it back, and returns when it can go
// on if a rate or minimum time does.
func (m *Model) settle(t *target, cause Cause) (later time.Time) {
	w := t.work
	if w == nil {
		return time.Time{}
	}
	m.steady.stop(&w.alarm)
	defer m.judge(t)
	wish, ok := t.wish(cause)
	switch {
	case !ok || w.sent.ID != 0:
		return time.Time{}
	case t.isFrozen():
		return time.Time{}
	case m.now.Steady < w.notBefore:
		return m.resumeAt(w, w.notBefore)
	case w.state == Unknown:
		m.ask(t, wish)
		return time.Time{}
	case w.state == Mismatch && !w.insist && w.assert:
		if m.now.Steady < w.assertAt {
			return m.resumeAt(w, w.assertAt)
		}
		m.assert(t)
		wish.Cause = CauseAssert
	}
	wait := t.restrain(&wish, m.now.Steady, m.limits)
	if wait > 0 {
		later = m.resumeAt(w, wait)
	}
	switch {
	case !t.follows(&wish):
		m.send(t, wish)
	case w.insist && wait == 0:
		w.state = Unknown
		m.ask(t, wish)
	case w.reverting && wait == 0 && w.state != Mismatch:
		m.reverted(t)
	}
	return later
}

// isFrozen reports whether an override keeps the point from following its wish.
func (t *target) isFrozen() bool {
	return t.frozen > 0 && (!t.work.failsafe || len(t.work.commands) > 0)
}

// resumeAt has a point settle at a steady moment, and returns that.
func (m *Model) resumeAt(w *work, at time.Duration) time.Time {
	m.steady.set(&w.alarm, w, int64(at))
	return m.now.at(at)
}

// ask demands that the point is read.
func (m *Model) ask(t *target, wish Write) {
	wish.Read = true
	if t.work.checking && !t.work.insist {
		wish.Cause = CauseCheck
	}
	m.send(t, wish)
}

// follows reports whether the point was set to the wish, as far as is remembered. What the device
// reports otherwise is left alone unless somebody asks anew.
func (t *target) follows(wish *Write) bool {
	w := t.work
	switch {
	case wish.Release:
		return false
	case w.state == Held:
		return t.alike(w.held, wish.Value)
	case w.state == Differs:
		return !w.insist && t.alike(w.held, wish.Value)
	}
	return w.state == Mismatch && !w.insist
}

// restrain changes a wish to what may be written now, and returns the steady time from which more
// may be; 0 if the wish can be fulfilled.
func (t *target) restrain(wish *Write, now time.Duration, limits Limits) (wait time.Duration) {
	w, policy := t.work, t.spec.policy()
	held, known := w.held.Number()
	want, numeric := wish.Value.Number()
	passes := func(most Level) bool { return wish.Level > 0 && wish.Level <= most }
	if !known || !numeric || wish.Release || held == want {
		return 0
	}
	if (held != 0) != (want != 0) && w.turnedAt > 0 && !passes(limits.Protection) {
		least := policy.MinOff
		if held != 0 {
			least = policy.MinOn
		}
		if until := w.turnedAt + least; now < until {
			wish.Value = w.held
			return until
		}
	}
	rate := policy.Rate
	if rate.Per == 0 || passes(limits.Emergency) {
		return 0
	}
	if until := w.changedAt + rate.Per; w.changedAt > 0 && now < until {
		wish.Value = w.held
		return until
	}
	if math.Abs(want-held) <= rate.Most {
		return 0
	}
	wish.Value = stepped(t.spec.Kind, held+math.Copysign(rate.Most, want-held), want > held)
	return now + rate.Per
}

// stepped makes a step a value of the point's kind; whole numbers step by less rather than by more.
func stepped(kind point.Kind, x float64, up bool) point.Value {
	if kind != point.Int {
		return point.FloatOf(x)
	}
	if up {
		return point.IntOf(int64(math.Floor(x)))
	}
	return point.IntOf(int64(math.Ceil(x)))
}

// send demands a write or read.
func (m *Model) send(t *target, wish Write) {
	w := t.work
	wish.Again = w.trouble.of(&wish)
	if w.failures > 0 && !wish.Read {
		wish.Cause = CauseRetry
	}
	m.lastWrite++
	wish.ID = m.lastWrite
	w.sent, w.insist = wish, false
	if !wish.Read {
		w.state, w.drift.checking = Writing, false
	}
	if wish.Cause != CauseCheck { // a check that is lost is made anew at the next start
		m.touch(recordMeta, "")
		m.touch(recordPoint, string(t.spec.Point))
	}
	m.out.Writes = append(m.out.Writes, wish)
}

// reverted notes that a point is back where nothing is wished.
func (m *Model) reverted(t *target) {
	w := t.work
	w.reverting, w.failsafe, w.undo, w.partial, w.before = false, false, false, false, point.Value{}
	m.touch(recordPoint, string(t.spec.Point))
}

// nearly is how far a value that is read back may be from the one that was written, relatively: a
// device that computes with 32 bits rounds.
const nearly = 1e-6

// alike reports whether a point that has a value has what it is to have, as far as its register and its
// tolerance tell.
func (t *target) alike(has, wants point.Value) bool {
	if same(has, wants) {
		return true
	}
	if rounded, err := t.spec.encoded(wants); err == nil {
		wants = rounded
	}
	x, isX := has.Number()
	y, isY := wants.Number()
	return same(has, wants) || isX && isY && math.Abs(x-y) <= t.spec.policy().Tolerance
}

// same reports whether two values are one for a device.
func same(a, b point.Value) bool {
	x, isX := a.Number()
	y, isY := b.Number()
	if !isX || !isY {
		return a == b
	}
	return x == y || math.Abs(x-y) <= nearly*max(math.Abs(x), math.Abs(y))
}
