package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/outstation/event"
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
	events     event.Buffer
	deferred   []byte // a read that waits for an unsolicited confirmation
	source     link.Address

	indications indications
	reader      reader
	writes      writes
	solicited   solicited
	unsolicited unsolicited
	selected    selection
	files       filetransfer.Files
}

func newSession(o *Outstation, c SessionConfig) *Session {
	s := &Session{outstation: o, config: c, events: event.NewBuffer(o.limits), files: filetransfer.NewFiles(&o.files)}
	s.indications = indications{outstation: o, events: &s.events, restarted: true}
	s.reader = reader{outstation: o, events: &s.events, indications: &s.indications}
	s.writes = writes{outstation: o, indications: &s.indications}
	s.solicited = solicited{config: &s.config, events: &s.events, indications: &s.indications, reader: &s.reader}
	s.unsolicited = unsolicited{
		config: &s.config, events: &s.events, indications: &s.indications, reader: &s.reader, null: c.Unsolicited,
	}
	return s
}

// SetWake implements [station.Machine].
func (s *Session) SetWake(wake func()) {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	s.wake = wake
}

// Open implements [station.Machine]: a report that was not confirmed before the line
// was lost is repeated unchanged, so that the master recognises that it has it already.
func (s *Session) Open(now time.Time, out *station.Output) {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	s.open = true
	s.solicited.last.valid = false
	if s.unsolicited.buffer != nil {
		s.unsolicited.resend(now, out)
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
	s.files.CloseAll()
	s.solicited.drop()
}

// Deadline implements [station.Machine].
func (s *Session) Deadline() time.Time {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	if !s.open {
		return time.Time{}
	}
	due := station.Earlier(s.solicited.response.due, s.unsolicited.deadline())
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
		if station.Due(s.solicited.response.due, now) {
			s.solicited.abandon(out)
		}
		if station.Due(s.unsolicited.due, now) {
			s.unsolicited.expire(now, s.deferred != nil, out)
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
	return s.open && s.config.Unsolicited && !s.solicited.waits() && s.unsolicited.buffer == nil &&
		s.events.Any(s.unsolicited.enabled)
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
	r := requestOf(octets, f)
	if r == s.solicited.last && s.solicited.repeat(f, out) {
		return
	}
	s.solicited.abandon(out)
	s.solicited.last = r
	s.solicited.answer = s.solicited.answer[:0]
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

// confirmed handles a confirmation.
func (s *Session) confirmed(now time.Time, c app.Control, out *station.Output) {
	if c.Unsolicited() {
		s.tellConfirmed(s.unsolicited.confirm(c.Sequence(), out))
		return
	}
	next, ok := s.solicited.confirm(c, out)
	if !ok {
		return
	}
	s.tellConfirmed(s.events.Confirm())
	s.indications.broadcast = broadcastNone
	if s.reader.plan != nil {
		s.solicited.respond(now, next, false, out)
	}
}

// tellConfirmed notifies the application how many events the master confirmed.
func (s *Session) tellConfirmed(n int) {
	if call := s.outstation.callbacks.Confirmed; call != nil && n > 0 {
		call(&s.outstation.tx, s.source, n)
	}
}

// proceed begins what the session can do by itself.
func (s *Session) proceed(now time.Time, out *station.Output) {
	if !s.open || s.solicited.waits() || s.unsolicited.buffer != nil {
		return
	}
	if s.deferred != nil {
		octets := s.deferred
		s.deferred = nil
		if f, err := app.Parse(octets); err == nil {
			s.execute(now, f, nil, out)
		}
		if s.solicited.waits() {
			return
		}
	}
	s.unsolicited.start(now, out)
}

// Waiting returns the indications of the classes with events that were not sent yet.
func (s *Session) Waiting() app.IIN {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	return s.events.IIN() & app.IINEvents
}

// Restarted reports whether the master learned of a restart, or will, and has not
// cleared that yet.
func (s *Session) Restarted() bool {
	s.outstation.mu.Lock()
	defer s.outstation.mu.Unlock()
	return s.indications.restarted
}
