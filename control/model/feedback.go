package model

import (
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/point"
)

// feedback compares what a point reports with what it was set to.
type feedback struct {
	output   *output
	back     bool // it has been unreadable since the last comparison, or the node was down
	checking bool // the point is being read to see whether it still has its value
	moving   bool // it was moving in steps at that time
	assert   bool // the lost value is written again as soon as assertAt allows

	assertAt    time.Duration // no such write before
	assertPause time.Duration // after the next one

	reported    bool // the mismatch has been reported
	reportAt    time.Duration
	reportPause time.Duration
	timer       step.Timer // of the next report
}

// Bounds of the effects of a point that does not keep its value. Pauses double from the first to the longest,
// and start over after as long without trouble.
const (
	firstPause = time.Minute
	mostPause  = time.Hour
)

// observe records a reading of the point; the zero Value means none. returned tells that the point has just become readable again.
func (f *feedback) observe(v point.Value, returned bool) {
	o, known := f.output, v.Kind() != point.None
	f.back = f.back || returned
	defer o.m.deviations.judge(o)
	switch {
	case !known || o.write.sent.ID != 0: // the outcome of the write in progress says more
	case o.state == control.Failed || o.state == control.Unknown:
		if returned {
			o.follow(control.CauseRetry)
		}
	case o.state == control.Confirmed || o.state == control.Differs || o.state == control.Mismatch:
		o.reported = v
		f.compare(v)
	}
}

// expected is the value that the point should report; false if none is commanded.
func (f *feedback) expected() (point.Value, bool) {
	o := f.output
	want, ok := o.commanded("")
	if o.state != control.Mismatch {
		return o.held, ok // which may be a step on the way to the commanded value
	}
	return want.Value, ok
}

// compare checks whether a point still has its commanded value. A reading may be older than the last write,
// so the point is read again before a change is reported.
func (f *feedback) compare(v point.Value) {
	o := f.output
	wants, commanded := f.expected()
	switch {
	case !commanded:
		f.rest(v)
	case o.target.spec.Alike(v, wants):
		if f.confirm(wants); o.reverting {
			o.follow(control.CauseCheck)
		}
	case o.isFrozen(): // it is being worked on
		o.state = control.Mismatch
		o.set(v)
	case o.state == control.Confirmed || f.back:
		f.doubt()
		o.follow(control.CauseCheck)
	}
}

// doubt checks whether the point still has the value it was set to.
func (f *feedback) doubt() {
	o := f.output
	want, _ := o.commanded("")
	f.moving = o.state != control.Mismatch && o.state != control.Differs && !o.target.spec.Alike(o.held, want.Value)
	o.state, f.checking = control.Unknown, true
}

// resume reads a point whose state is only known from before the node stopped.
func (f *feedback) resume() {
	o := f.output
	if o.state != control.Confirmed && o.state != control.Differs && o.state != control.Mismatch {
		return
	}
	f.back = true
	if o.isCommanded() {
		f.doubt()
	} else {
		o.state = control.Idle
	}
}

// rest clears the value of a point that is no longer commanded and that now has another value.
func (f *feedback) rest(v point.Value) {
	if o := f.output; !o.target.spec.Alike(v, o.held) {
		o.state, o.held = control.Idle, v
		o.touch()
	}
}

// confirm records that the point has the value it was set to.
func (f *feedback) confirm(v point.Value) {
	o := f.output
	f.back, f.assert, f.checking, o.partial = false, false, false, false
	if o.state != control.Confirmed {
		o.state = control.Confirmed
		o.set(v)
		o.touch()
	}
	f.report()
}

// checked examines the reading of a point that may have changed.
func (f *feedback) checked(got point.Value) {
	o := f.output
	f.checking = false
	want, commanded := o.commanded("")
	back := f.back
	f.back = false
	switch {
	case !commanded:
		o.state = control.Idle
	case o.target.spec.Alike(got, want.Value):
		f.confirm(want.Value)
		return
	case f.moving: // it continues from here
		o.state = control.Confirmed
	default:
		o.state = control.Mismatch
		when := o.target.spec.Demands().Assert
		f.assert = !o.isFrozen() && (when == control.AssertAlways || when != control.AssertNever && (back || o.partial))
	}
	o.set(got)
	o.touch()
	f.report()
}

// assertNow writes the value of the point that lost it again, and bounds how soon the next such write may follow.
func (f *feedback) assertNow() {
	f.assert, f.output.insist = false, true
	f.postpone()
}

// postpone delays the next such write.
func (f *feedback) postpone() {
	first := f.output.target.spec.Demands().AssertPause
	if first == 0 {
		first = firstPause
	}
	f.assertAt, f.assertPause = f.backOff(f.assertAt, f.assertPause, first)
}

// backOff returns the earliest time for the next repetition, and the pause that follows.
func (f *feedback) backOff(at, pause, first time.Duration) (next, following time.Duration) {
	now := f.output.m.step.Now.Steady
	if pause == 0 || now > at+max(mostPause, first) {
		pause = first
	}
	return now + pause, min(2*pause, max(mostPause, first))
}

// report raises an event when a mismatch began or ended. An intermittent one is reported at growing
// intervals, and finally in its last state.
func (f *feedback) report() {
	o, s := f.output, f.output.m.step
	s.Steady.Stop(&f.timer)
	is := o.state == control.Mismatch && !o.isFrozen()
	switch {
	case is == f.reported:
		return
	case is && s.Now.Steady < f.reportAt:
		s.Steady.Set(&f.timer, (*reporter)(f), int64(f.reportAt))
		return
	}
	e := control.Event{Kind: control.MismatchEnded, Cause: control.CauseCheck, Value: o.reported, Holder: control.Holder{Path: o.target.spec.Point}}
	if c := o.array.first(); c != nil {
		e.Holder = c.holder()
		e.Commanded = c.Value
	} else if want, ok := o.commanded(""); ok {
		e.Commanded = want.Value
	}
	if is {
		e.Kind = control.Mismatched
		f.reportAt, f.reportPause = f.backOff(f.reportAt, f.reportPause, firstPause)
	}
	f.reported = is
	o.touch()
	s.Event(e)
}

// reporter is the timer's owner: called when a mismatch may be reported again.
type reporter feedback

func (r *reporter) Due() { (*feedback)(r).report() }
