package outstation

import (
	"hash/crc32"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/outstation/filetransfer"
	"voltbus/protocol/dnp3/station"
)

// Session is the outstation's side of the association with one master. It is a
// [station.Machine]: put it behind a port and drive that by a channel or a test.
type Session struct {
	outstation *Outstation
	config     SessionConfig
	wake       func()
	open       bool
	fresh      bool // events came that the session was not woken for
	restarted  bool // the master has not cleared IIN1.7 yet
	broadcast  broadcastState
	events     events

	last        request  // the request answered last
	answer      []byte   // its answer, if it must be repeated rather than made again
	plan        []item   // what is left of a read
	refused     app.IIN  // what of it was refused
	response    response // a fragment that waits for its confirmation
	deferred    []byte   // a read that waits for an unsolicited confirmation
	source      link.Address
	unsolicited unsolicited
	selected    selection
	recorded    time.Time // when FC 24 recorded the time
	files       filetransfer.Files
}

// request identifies a request, to recognize a repeated one.
type request struct {
	valid    bool
	sequence app.Sequence
	size     int
	sum      uint32
}

// response is a solicited fragment whose confirmation is awaited.
type response struct {
	buffer   *station.Buffer
	sequence app.Sequence
	due      time.Time
}

type broadcastState uint8

const (
	broadcastNone    broadcastState = iota
	broadcastTell                   // set IIN1.0 in the next response
	broadcastConfirm                // and until the master confirms one
)

// SetWake implements [station.Machine].
func (s *Session) SetWake(wake func()) {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	s.wake = wake
}

// Open implements [station.Machine]: a report that was not confirmed before the line
// was lost is repeated as it was, so that the master can tell that it has it already.
func (s *Session) Open(now time.Time, out *station.Output) {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	s.open = true
	s.last.valid = false
	if s.unsolicited.buffer != nil {
		s.resendUnsolicited(now, out)
	}
	s.proceed(now, out)
}

// Close implements [station.Machine]. Events that were sent in a response and not
// confirmed are kept for the next one.
func (s *Session) Close(time.Time) {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	s.open = false
	s.selected.valid = false
	s.deferred = nil
	s.answer = nil
	s.plan = nil
	s.files.CloseAll()
	if s.response.buffer != nil {
		s.response = response{}
		s.events.putBack()
	}
}

// Deadline implements [station.Machine].
func (s *Session) Deadline() time.Time {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	if !s.open {
		return time.Time{}
	}
	due := station.Earlier(s.response.due, s.unsolicited.due)
	if s.unsolicited.buffer == nil {
		due = station.Earlier(due, station.Earlier(s.unsolicited.hold, s.unsolicited.pause))
	}
	due = station.Earlier(due, s.files.Deadline())
	return station.Earlier(due, s.outstation.deadline())
}

// Tick implements [station.Machine].
func (s *Session) Tick(now time.Time, out *station.Output) {
	o := s.outstation
	o.mu.Lock()
	o.tick(now)
	if s.open {
		s.files.Expire(now)
		if station.Due(s.response.due, now) {
			s.abandon(out)
		}
		if station.Due(s.unsolicited.due, now) {
			s.expireUnsolicited(now, out)
		}
		s.proceed(now, out)
	}
	s.release()
}

// release unlocks the outstation and lets its other sessions report what came of a step.
func (s *Session) release() {
	o := s.outstation
	s.fresh = false
	others := len(o.sessions) > 1
	o.mu.Unlock()
	if others {
		o.wake(s)
	}
}

// wants reports whether there is something to report that waits for nothing.
func (s *Session) wants() bool {
	return s.open && s.config.Unsolicited && s.response.buffer == nil && s.unsolicited.buffer == nil &&
		s.events.any(s.unsolicited.enabled)
}

// Receive implements [station.Machine].
func (s *Session) Receive(now time.Time, m station.Message, out *station.Output) {
	o := s.outstation
	o.mu.Lock()
	s.source = m.Source
	o.tick(now)
	s.receive(now, m, out)
	s.proceed(now, out)
	s.release()
}

func (s *Session) receive(now time.Time, m station.Message, out *station.Output) {
	f, err := app.Parse(m.Octets)
	c := f.Control
	switch {
	case len(m.Octets) < 2 || f.Function.Response():
		return
	case !c.First() || !c.Final() || c.Confirm():
		return // requests are single fragments that need no confirmation (clause 4.2.2)
	case f.Function == app.FuncConfirm && err == nil:
		if m.Broadcast == 0 {
			s.confirmed(now, c, out)
		}
		return
	case c.Unsolicited():
		return
	case m.Broadcast != 0:
		s.receiveBroadcast(now, m, f, err)
		return
	}
	s.request(now, m.Octets, f, err, out)
}

// request handles a request to this outstation alone.
func (s *Session) request(now time.Time, octets []byte, f app.Fragment, err error, out *station.Output) {
	r := request{valid: true, sequence: f.Control.Sequence(), size: len(octets), sum: crc32.ChecksumIEEE(octets)}
	if r == s.last && s.repeat(f, out) {
		return
	}
	s.abandon(out)
	s.last = r
	s.answer = s.answer[:0]
	s.deferred = nil
	if f.Function != app.FuncOperate {
		s.selected.valid = false
	}
	if err == nil && f.Function == app.FuncRead && s.unsolicited.buffer != nil {
		s.deferred = append([]byte(nil), octets...)
		return
	}
	s.execute(now, f, err, out)
}

// repeat answers a repeated request as before without doing anything again, false if
// it is a read whose answer can be made again.
func (s *Session) repeat(f app.Fragment, out *station.Output) bool {
	switch {
	case s.response.buffer != nil:
		out.Send(s.response.buffer.Octets)
	case len(s.answer) > 0:
		out.Send(s.answer)
	default:
		return f.Function != app.FuncRead
	}
	return true
}

// abandon gives up waiting for a confirmation: the events wait again.
func (s *Session) abandon(out *station.Output) {
	s.plan = nil
	if s.response.buffer == nil {
		return
	}
	out.Pool().Return(s.response.buffer)
	s.response = response{}
	s.events.putBack()
}

// confirmed handles a confirmation.
func (s *Session) confirmed(now time.Time, c app.Control, out *station.Output) {
	if c.Unsolicited() {
		s.confirmUnsolicited(now, c.Sequence(), out)
		return
	}
	if s.response.buffer == nil {
		if c.Sequence() == s.last.sequence { // of an answer that told of a broadcast
			s.broadcast = broadcastNone
		}
		return
	}
	if c.Sequence() != s.response.sequence {
		return
	}
	sequence := s.response.sequence.Next()
	out.Pool().Return(s.response.buffer)
	s.response = response{}
	s.forget()
	s.broadcast = broadcastNone
	if s.plan != nil {
		s.respond(now, sequence, false, out)
	}
}

// forget drops the events that the master confirmed, and says so.
func (s *Session) forget() { s.confirmedEvents(s.events.confirm()) }

func (s *Session) confirmedEvents(n int) {
	if call := s.outstation.callbacks.Confirmed; call != nil && n > 0 {
		call(&s.outstation.tx, s.source, n)
	}
}

// proceed begins what the session can do by itself.
func (s *Session) proceed(now time.Time, out *station.Output) {
	if !s.open || s.response.buffer != nil || s.unsolicited.buffer != nil {
		return
	}
	if s.deferred != nil {
		octets := s.deferred
		s.deferred = nil
		if f, err := app.Parse(octets); err == nil {
			s.execute(now, f, nil, out)
		}
		if s.response.buffer != nil {
			return
		}
	}
	s.startUnsolicited(now, out)
}

// iin returns the indications for a response.
func (s *Session) iin() app.IIN {
	iin := s.outstation.indications | s.events.iin()
	if s.restarted {
		iin |= app.IINDeviceRestart
	}
	if s.broadcast != broadcastNone {
		iin |= app.IINBroadcast
	}
	return iin
}

// Waiting returns the indications of the classes with events that were not sent yet.
func (s *Session) Waiting() app.IIN {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	return s.events.iin() & app.IINEvents
}

// Restarted reports whether the master was told of a restart, or will be, and has not
// cleared that yet.
func (s *Session) Restarted() bool {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	return s.restarted
}
