package model

import (
	"fmt"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// writer writes and reads a point, one operation at a time, and evaluates the outcomes.
type writer struct {
	output   *output
	sent     control.Write // the write in progress; its ID is 0 if there is none
	failures int           // in a row
	trouble  trouble       // what was reported about them
	text     string        // of the last failure
	kind     fault.Kind    // of the last failure
}

// send requests a write or read.
func (w *writer) send(want control.Write) {
	o := w.output
	s := o.m.step
	want.Again = w.trouble.of(&want)
	if w.failures > 0 && !want.Read {
		want.Cause = control.CauseRetry
	}
	if !want.Read {
		o.placed.Put(o.target.spec, &want)
	}
	want.ID = s.Write(want)
	w.sent, o.insist = want, false
	if !want.Read {
		o.state, o.feedback.checking = control.Writing, false
	}
	if want.Cause != control.CauseCheck { // a lost check is made again at the next start
		s.Touch(step.Meta, "")
		o.touch()
	}
}

// outcome processes the outcome of the write in progress; see Model.Answer.
func (w *writer) outcome(result *control.Outcome) {
	sent := w.sent
	w.sent = control.Write{}
	w.output.touch()
	defer w.output.m.deviations.judge(w.output)
	switch {
	case result.Err == nil && sent.Read:
		w.found(&sent, result.Value)
	case result.Err == nil:
		w.carriedOut(&sent, result.Value)
	default:
		w.failed(&sent, result)
	}
}

// event raises an event about a write.
func (w *writer) event(kind control.EventKind, sent *control.Write, value point.Value, err error) {
	e := control.Event{
		Kind: kind, Cause: sent.Cause, Value: value, Write: sent.ID,
		Holder: control.Holder{Requester: sent.Requester, Command: sent.Command, Path: sent.Point, Level: sent.Level},
	}
	if err != nil {
		e.Fault, e.Text = fault.KindOf(err), err.Error()
	}
	w.output.m.step.Event(e)
}

// answered records that the device answered.
func (w *writer) answered(got point.Value) {
	o := w.output
	o.array.tried(false)
	w.failures, w.text, w.trouble, o.reported = 0, "", trouble{}, got
	if got.Kind() != point.None {
		o.target.observed, o.target.away = got, false
	}
}

// carriedOut records a successful write.
func (w *writer) carriedOut(sent *control.Write, got point.Value) {
	o := w.output
	w.answered(got)
	w.taken(sent)
	o.placed.Done(sent)
	if sent.Release {
		o.state, o.held = control.Idle, point.Value{}
		w.event(control.WriteConfirmed, sent, got, nil)
		if o.array.len() == 0 {
			o.reverted()
		}
		o.follow(control.CauseCommand)
		return
	}
	o.set(sent.Value)
	o.partial = false
	if o.state, o.feedback.back = control.Confirmed, false; got.Kind() != point.None && !o.target.spec.Alike(got, sent.Value) {
		o.state = control.Differs
		w.event(control.WriteDiffers, sent, got, nil)
	} else {
		w.event(control.WriteConfirmed, sent, got, nil)
	}
	o.feedback.report()
	o.follow(control.CauseCommand)
}

// found records the value read from a point.
func (w *writer) found(sent *control.Write, got point.Value) {
	o, s := w.output, w.output.m.step
	check := sent.Cause == control.CauseCheck && !o.insist
	before, failures, news := w.trouble, w.failures, !control.Same(o.held, got)
	w.answered(got)
	switch {
	case got.Kind() == point.None && check:
		o.target.away, o.state = true, control.Unknown
		o.resumeAt(s.Now.Steady + s.Limits.RetryMost)
		return
	case got.Kind() == point.None:
		o.state = control.Failed // the reading tells nothing: the commanded value is written
	case check:
		if o.feedback.checked(got); o.partial {
			w.trouble, w.failures = before, failures
		}
		o.follow(control.CauseCheck)
		return
	default:
		o.set(got)
		o.state, o.feedback.checking, o.feedback.back = control.Confirmed, false, false
		if want, ok := o.commanded(""); ok && o.target.spec.Alike(got, want.Value) {
			if o.partial = false; !o.insist { // otherwise it was read before the command was given, and is read once more
				w.taken(&want)
			}
			o.feedback.report()
		} else if ok { // the next write may fail like the previous one: pauses keep growing, and the failure was reported
			w.trouble, w.failures = before, failures
		}
	}
	if sent.Cause != control.CauseCheck && (news || w.trouble.count == 0) {
		w.event(control.PointRead, sent, got, nil)
	}
	o.follow(control.CauseRetry)
}

// failed records a write or read without a result.
func (w *writer) failed(sent *control.Write, result *control.Outcome) {
	o, s, err := w.output, w.output.m.step, result.Err
	o.partial = o.partial || result.Partial
	w.failures, w.text, w.kind = w.failures+1, err.Error(), fault.KindOf(err)
	pause := s.Limits.RetryPause(w.failures)
	switch w.kind {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound:
		if sent.Read && o.array.firstWriteOf(sent) != nil {
			o.state = control.Failed // it cannot be read: the commanded value is written, and the answer to that says more
			o.array.tried(false)
			o.follow(control.CauseCommand)
			return
		}
		w.complain(control.WriteFailed, sent, err)
		o.state = control.Failed
		if sent.Read {
			o.state = control.Unknown
		}
		if sent.Release { // nothing else can be done: the point stays as it is
			o.state = control.Idle
			o.reverted()
			o.follow(control.CauseDevice)
			return
		}
		if w.declined(sent, result, true) || w.remains(sent) {
			return
		}
		pause = s.Limits.RetryMost
	case fault.Timeout, fault.Canceled, fault.Internal, fault.Corrupt:
		w.complain(control.WriteUnknown, sent, err)
		o.state = control.Unknown
	default:
		w.complain(control.WriteFailed, sent, err)
		if o.state != control.Unknown {
			o.state = control.Failed
		}
		if w.declined(sent, result, false) {
			return
		}
	}
	o.array.tried(true)
	o.resumeAt(s.Now.Steady + pause)
}

// trouble is what was reported about failures in a row.
type trouble struct {
	requester, command string
	kinds              uint32        // of faults, one bit each
	since              time.Time     // time of the first
	again              time.Duration // when they are reported anew
	count              int           // number not reported
}

// summary is the interval at which lasting trouble is reported.
const summary = 24 * time.Hour

// of reports whether trouble with a commanded value was reported.
func (x *trouble) of(want *control.Write) bool {
	return x.kinds != 0 && x.requester == want.Requester && x.command == want.Command
}

// complain reports a failure, unless the same was reported.
func (w *writer) complain(kind control.EventKind, sent *control.Write, err error) {
	x, now := &w.trouble, w.output.m.step.Now
	if sent.Cause == control.CauseCheck {
		return // the view shows it as unknown, and nothing was to be changed
	}
	if !x.of(sent) {
		*x = trouble{requester: sent.Requester, command: sent.Command, since: now.Wall, again: now.Steady + summary}
	}
	bit := uint32(1) << (uint(fault.KindOf(err)) % 32)
	due := now.Steady >= x.again
	if x.kinds&bit != 0 && !due {
		x.count++
		return
	}
	if x.kinds |= bit; due {
		err = fault.E("", fault.KindOf(err), "", fmt.Errorf("%d more tries failed since %s: %w", x.count+1, control.ClockText(x.since), err))
		x.again, x.count = now.Steady+summary, 0
	}
	w.event(kind, sent, sent.Value, err)
}
