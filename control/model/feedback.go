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
	back     bool // it could not be read since it was last compared, or the node was down
	checking bool // the point is read to see whether it still has what it was set to
	moving   bool // it was on its way in steps then
	assert   bool // what it lost is written again as soon as assertAt allows

	assertAt    time.Duration // no such write before
	assertPause time.Duration // after the next one

	reported    bool // that there is a mismatch
	reportAt    time.Duration
	reportPause time.Duration
	timer       step.Timer // of the next report
}

// The bounds of what a point that does not keep its value may cause. Pauses double from the first to the
// longest, and begin anew after as long without trouble.
const (
	firstPause = time.Minute
	mostPause  = time.Hour
)

// observe takes a reading of the point over; the zero Value is none. The point has just come back, or not.
func (f *feedback) observe(v point.Value, returned bool) {
	o, known := f.output, v.Kind() != point.None
	f.back = f.back || returned
	defer o.m.deviations.judge(o)
	switch {
	case !known || o.write.sent.ID != 0: // the outcome of what is under way says more
	case o.state == control.Failed || o.state == control.Unknown:
		if returned {
			o.follow(control.CauseRetry)
		}
	case o.state == control.Confirmed || o.state == control.Differs || o.state == control.Mismatch:
		o.reported = v
		f.compare(v)
	}
}

// expected is what the point is to report; false if nothing is commanded.
func (f *feedback) expected() (point.Value, bool) {
	o := f.output
	want, ok := o.commanded("")
	if o.state != control.Mismatch {
		return o.held, ok // which may be a step on the way to the commanded value
	}
	return want.Value, ok
}

// compare checks whether a point still has its commanded value. What a reading says may be older than the
// last write, so that the point is asked before it is said to have changed.
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
	case o.isFrozen(): // somebody works on it
		o.state = control.Mismatch
		o.set(v)
	case o.state == control.Confirmed || f.back:
		f.doubt()
		o.follow(control.CauseCheck)
	}
}

// doubt has it found out whether the point still has what it was set to.
func (f *feedback) doubt() {
	o := f.output
	want, _ := o.commanded("")
	f.moving = o.state != control.Mismatch && o.state != control.Differs && !o.target.spec.Alike(o.held, want.Value)
	o.state, f.checking = control.Unknown, true
}

// resume has a point read of which the node knows only what it had when the node stopped.
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

// rest forgets what a point was set to that is not commanded, and which has another value now.
func (f *feedback) rest(v point.Value) {
	if o := f.output; !o.target.spec.Alike(v, o.held) {
		o.state, o.held = control.Idle, v
		o.touch()
	}
}

// confirm notes that the point has what it was set to.
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

// checked checks what was read from a point that may have changed.
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
	case f.moving: // it goes on from here
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

// assertNow has the point that lost its value written again, and bounds how soon that may be done once more.
func (f *feedback) assertNow() {
	f.assert, f.output.insist = false, true
	f.postpone()
}

// postpone has the next such write wait.
func (f *feedback) postpone() {
	first := f.output.target.spec.Demands().AssertPause
	if first == 0 {
		first = firstPause
	}
	f.assertAt, f.assertPause = f.backOff(f.assertAt, f.assertPause, first)
}

// backOff returns the moment before which something is not done again, and the pause that follows.
func (f *feedback) backOff(at, pause, first time.Duration) (next, following time.Duration) {
	now := f.output.m.step.Now.Steady
	if pause == 0 || now > at+max(mostPause, first) {
		pause = first
	}
	return now + pause, min(2*pause, max(mostPause, first))
}

// report makes an event when a mismatch began or ended. One that comes and goes is reported at growing
// distances, and in the end as it is.
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

// reporter is called when a mismatch may be reported again.
type reporter feedback

func (r *reporter) Due() { (*feedback)(r).report() }
