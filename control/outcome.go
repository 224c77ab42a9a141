package control

import (
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Outcome is what came of a Write.
type Outcome struct {
	Write uint64      // its ID
	Value point.Value // what the point then reports; the zero Value if it reports nothing
	Err   error       // nil if it was carried out; its fault.Kind says what is known otherwise
	// Declined says that the request came to the device, or to its driver, and Err is its answer: no, for now or
	// for good. Without it an Err of a kind that may pass says that the device was not reached.
	Declined bool
	// Partial says that the device declined a value, and has not got the one before any more.
	Partial bool
}

// Answer takes the outcome of a write. An outcome of no write that is under way is ignored: it was
// answered before, or is from before a restart.
//
// By the kind of error: Rejected, Refused, Invalid and NotFound end a command that the device has never
// taken, whose level is then as it was before; have everything else that is a value tried again now and
// then; and leave a point as it is that cannot be given back. An error of another kind with Declined, such as
// that of a device that is busy, ends a command with whose first write it comes. Timeout, Canceled, Internal and Corrupt leave
// it unknown whether the device took it, and the point is read. Every other kind has it tried again after a
// growing pause, or when the point can be read again. A failure is told once for each kind of error, and
// then once a day.
//
// Where a device declined a value and has lost the one before, that is written again: of the command that wins then, else
// the one that the point had before it was commanded. If it is declined for good too, the point is read, which makes it a
// mismatch if it has another value, and written again at the distances of assertions.
func (m *Model) Answer(now Instant, path point.Path, o Outcome) Effects {
	m.enter(now)
	t := m.targets[path]
	if t == nil || t.work == nil || o.Write == 0 || t.work.sent.ID != o.Write {
		return m.take()
	}
	sent := t.work.sent
	t.work.sent = Write{}
	m.touch(recordPoint, string(path))
	defer m.judge(t)
	switch {
	case o.Err == nil && sent.Read:
		m.found(t, &sent, o.Value)
	case o.Err == nil:
		m.confirmed(t, &sent, o.Value)
	default:
		m.failed(t, &sent, &o)
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

// answered notes that the device answered.
func (t *target) answered(got point.Value) {
	w := t.work
	t.tried(false)
	w.failures, w.text, w.trouble, w.reported = 0, "", trouble{}, got
	if got.Kind() != point.None {
		t.observed, t.away = got, false
	}
}

// confirmed notes a write that was carried out.
func (m *Model) confirmed(t *target, sent *Write, got point.Value) {
	w := t.work
	t.answered(got)
	m.prove(t, sent)
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
	w.partial = false
	if w.state, w.back = Held, false; got.Kind() != point.None && !t.alike(got, sent.Value) {
		w.state = Differs
		m.tell(WriteDiffers, sent, got, nil)
	} else {
		m.tell(WriteConfirmed, sent, got, nil)
	}
	m.sayDrift(t)
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

// found notes what a point was read to hold.
func (m *Model) found(t *target, sent *Write, got point.Value) {
	w := t.work
	check := sent.Cause == CauseCheck && !w.insist
	before, failures, news := w.trouble, w.failures, !same(w.held, got)
	t.answered(got)
	switch {
	case got.Kind() == point.None && check:
		t.away, w.state = true, Unknown
		m.resumeAt(w, m.now.Steady+m.limits.RetryMost)
		return
	case got.Kind() == point.None:
		w.state = Failed // it tells nothing: the wish is written
	case check:
		if m.checked(t, got); w.partial {
			w.trouble, w.failures = before, failures
		}
		m.settle(t, CauseCheck)
		return
	default:
		m.hold(w, got)
		w.state, w.checking, w.back = Held, false, false
		if wish, ok := t.wish(""); ok && t.alike(got, wish.Value) {
			if w.partial = false; !w.insist { // else it was asked before the command was made, and is asked once more
				m.prove(t, &wish)
			}
			m.sayDrift(t)
		} else if ok { // the write that follows may fail like the one before: pauses go on growing, and it was told
			w.trouble, w.failures = before, failures
		}
	}
	if sent.Cause != CauseCheck && (news || w.trouble.count == 0) {
		m.tell(PointRead, sent, got, nil)
	}
	m.settle(t, CauseRetry)
}

// failed notes a write or read that gave no result.
func (m *Model) failed(t *target, sent *Write, o *Outcome) {
	w, err := t.work, o.Err
	w.partial = w.partial || o.Partial
	w.failures, w.text, w.kind = w.failures+1, err.Error(), fault.KindOf(err)
	pause := m.pause(w.failures)
	switch w.kind {
	case fault.Rejected, fault.Refused, fault.Invalid, fault.NotFound:
		if sent.Read && t.firstOf(sent) != nil {
			w.state = Failed // it cannot be read: the wish is written, and the answer to that says more
			t.tried(false)
			m.settle(t, CauseCommand)
			return
		}
		m.complain(t, WriteFailed, sent, err)
		w.state = Failed
		if sent.Read {
			w.state = Unknown
		}
		if sent.Release { // nothing else can be done: it stays as it is
			w.state = Idle
			m.reverted(t)
			m.settle(t, CauseDevice)
			return
		}
		if m.struck(t, sent, o, true) || m.remains(t, sent) {
			return
		}
		pause = m.limits.RetryMost
	case fault.Timeout, fault.Canceled, fault.Internal, fault.Corrupt:
		m.complain(t, WriteUnknown, sent, err)
		w.state = Unknown
	default:
		m.complain(t, WriteFailed, sent, err)
		if w.state != Unknown {
			w.state = Failed
		}
		if m.struck(t, sent, o, false) {
			return
		}
	}
	t.tried(true)
	m.resumeAt(w, m.now.Steady+pause)
}

// trouble is what was told of failures in a row.
type trouble struct {
	requester, command string
	kinds              uint32        // of faults, a bit each
	since              time.Time     // the first
	again              time.Duration // when they are told of anew
	count              int           // that were not told
}

// summary is the distance at which trouble that lasts is told of.
const summary = 24 * time.Hour

// of reports whether trouble with a wish was told.
func (x *trouble) of(wish *Write) bool {
	return x.kinds != 0 && x.requester == wish.Requester && x.command == wish.Command
}

// complain tells of a failure, unless the same was told.
func (m *Model) complain(t *target, kind EventKind, sent *Write, err error) {
	x := &t.work.trouble
	if sent.Cause == CauseCheck {
		return // the view says that it is unknown, and nothing was to be changed
	}
	if !x.of(sent) {
		*x = trouble{requester: sent.Requester, command: sent.Command, since: m.now.Wall, again: m.now.Steady + summary}
	}
	bit := uint32(1) << (uint(fault.KindOf(err)) % 32)
	due := m.now.Steady >= x.again
	if x.kinds&bit != 0 && !due {
		x.count++
		return
	}
	if x.kinds |= bit; due {
		err = fault.E("", fault.KindOf(err), "", fmt.Errorf("%d more tries failed since %s: %w", x.count+1, clockText(x.since), err))
		x.again, x.count = m.now.Steady+summary, 0
	}
	m.tell(kind, sent, sent.Value, err)
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
