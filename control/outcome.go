package control

import (
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Outcome is what came of a Write.
type Outcome struct {
	Write uint64      // its ID
	Value point.Value // what the point then reports; the zero Value if it reports nothing
	Err   error       // nil if it was carried out; its fault.Kind says what is known otherwise
}

// Answer takes the outcome of a write. An outcome of no write that is under way is ignored: it was
// answered before, or is from before a restart.
//
// By the kind of error: Rejected, Refused, Invalid and NotFound end the command that was written, have
// a revert to a value tried again, and leave a point as it is that cannot be given back; Timeout, Canceled, Internal and Corrupt leave it unknown whether the
// device took it, and the point is read; everything else is tried again after a growing pause.
func (m *Model) Answer(now Instant, path point.Path, o Outcome) Effects {
	m.enter(now)
	t := m.targets[path]
	if t == nil || t.work == nil || o.Write == 0 || t.work.sent.ID != o.Write {
		return m.take()
	}
	sent := t.work.sent
	t.work.sent = Write{}
	m.touch(recordPoint, string(path))
	switch {
	case o.Err == nil && sent.Read:
		m.found(t, &sent, o.Value)
	case o.Err == nil:
		m.confirmed(t, &sent, o.Value)
	default:
		m.failed(t, &sent, o.Err)
	}
	return m.take()
}

// tell makes an event about a write.
func (m *Model) tell(kind EventKind, sent *Write, value point.Value, err error) {
	e := Event{
		Kind: kind, Cause: sent.Cause, Value: value, Write: sent.ID,
		Holder: Holder{Requester: sent.Requester, Command: sent.Command, Path: sent.Point, Level: sent.Level},
	}
	if err != nil {
		e.Fault, e.Text = fault.KindOf(err), err.Error()
	}
	m.event(e)
}

// confirmed notes a write that was carried out.
func (m *Model) confirmed(t *target, sent *Write, got point.Value) {
	w := t.work
	w.failures, w.text, w.reported = 0, "", got
	if got.Kind() != point.None {
		t.observed = got
	}
	if sent.Release {
		w.state, w.held = Idle, point.Value{}
		m.tell(WriteConfirmed, sent, got, nil)
		if len(w.commands) == 0 {
			m.reverted(t)
		}
		m.settle(t, CauseCommand)
		return
	}
	m.hold(w, sent.Value)
	if w.state = Held; got.Kind() != point.None && !same(got, sent.Value) {
		w.state = Differs
		m.tell(WriteDiffers, sent, got, nil)
	} else {
		m.tell(WriteConfirmed, sent, got, nil)
	}
	m.settle(t, CauseCommand)
}

// hold notes what the point is set to, and when it changed.
func (m *Model) hold(w *work, v point.Value) {
	if same(w.held, v) {
		w.held = v
		return
	}
	before, known := w.held.Number()
	after, numeric := v.Number()
	w.held, w.changedAt = v, max(m.now.Steady, 1)
	if numeric && (!known || (before != 0) != (after != 0)) {
		w.turnedAt = w.changedAt
	}
}

// found notes what a point was read to hold after an unknown outcome.
func (m *Model) found(t *target, sent *Write, got point.Value) {
	w := t.work
	w.failures, w.text, w.reported = 0, "", got
	if got.Kind() == point.None {
		w.state = Failed // it tells nothing: the wish is written again
	} else {
		t.observed = got
		m.hold(w, got)
		w.state = Held
	}
	m.tell(PointRead, sent, got, nil)
	m.settle(t, CauseRetry)
}

// failed notes a write or read that gave no result.
func (m *Model) failed(t *target, sent *Write, err error) {
	w := t.work
	w.failures, w.text = w.failures+1, err.Error()
	pause := m.pause(w.failures)
	switch fault.KindOf(err) {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound:
		m.tell(WriteFailed, sent, sent.Value, err)
		w.state = Failed
		if sent.Release { // nothing else can be done: it stays as it is
			w.state = Idle
			m.reverted(t)
			m.settle(t, CauseDevice)
			return
		}
		if m.struck(t, sent) {
			w.failures = 0
			m.settle(t, CauseDevice)
			return
		}
		pause = m.limits.RetryMost
	case fault.Timeout, fault.Canceled, fault.Internal, fault.Corrupt:
		m.tell(WriteUnknown, sent, sent.Value, err)
		w.state = Unknown
	default:
		m.tell(WriteFailed, sent, sent.Value, err)
		if w.state != Unknown {
			w.state = Failed
		}
	}
	m.steady.set(&w.alarm, w, int64(m.now.Steady+pause))
}

// struck ends the command that the device refused, and reports whether something else is wished now.
func (m *Model) struck(t *target, sent *Write) bool {
	if sent.Read {
		return false
	}
	if c := m.commands[ref{sent.Requester, sent.Command}]; c != nil && c.target == t {
		m.end(c, CauseDevice)
		return true
	}
	wish, ok := t.wish("")
	return ok && (wish.Release != sent.Release || wish.Value != sent.Value)
}

// pause returns the pause after so many failures in a row.
func (m *Model) pause(failures int) time.Duration {
	pause := m.limits.RetryFirst
	for range failures - 1 {
		if pause >= m.limits.RetryMost/2 {
			return m.limits.RetryMost
		}
		pause *= 2
	}
	return min(pause, m.limits.RetryMost)
}
