package outstation

import (
	"errors"
	"math"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/station"
)

// unsolicited is the state of reporting unasked (clause 4.2.2).
type unsolicited struct {
	null     bool            // the empty report after a start is not confirmed yet
	enabled  app.Classes     // by the master
	buffer   *station.Buffer // the report that waits for its confirmation
	sequence app.Sequence    // of that report, or of the next one
	due      time.Time       // when the confirmation is late
	retries  int
	hold     time.Time // until when events are collected
	pause    time.Time // until when nothing is sent after a report was given up

	withdrawn bool // the last report was ended by the master, whose confirmation may be under way
}

// startUnsolicited sends a report if there is a reason to.
func (s *Session) startUnsolicited(now time.Time, out *station.Output) {
	u := &s.unsolicited
	switch {
	case !s.config.Unsolicited || now.Before(u.pause):
		return
	case u.null:
		u.pause = time.Time{}
		s.sendUnsolicited(now, 0, out)
	case s.events.any(u.enabled) && s.collected(now):
		u.hold, u.pause = time.Time{}, time.Time{}
		s.sendUnsolicited(now, u.enabled, out)
	}
}

// collected reports whether events have been held long enough.
func (s *Session) collected(now time.Time) bool {
	u := &s.unsolicited
	switch {
	case s.config.Holdoff == 0:
		return true
	case s.config.HoldoffEvents > 0 && s.events.count(u.enabled) >= s.config.HoldoffEvents:
		return true
	case u.hold.IsZero():
		u.hold = now.Add(s.config.Holdoff)
	}
	return !now.Before(u.hold)
}

func (s *Session) sendUnsolicited(now time.Time, classes app.Classes, out *station.Output) {
	u := &s.unsolicited
	u.buffer, u.withdrawn = out.Pool().Borrow(), false
	control := u.sequence.Single() | app.CON | app.UNS
	w := app.NewResponse(u.buffer.Octets, control, app.FuncUnsolicitedResponse, 0)
	if classes != 0 {
		s.writeEvents(&w, &item{slots: allSlots, classes: classes, limit: math.MaxUint32})
	}
	w.SetIIN(s.iin())
	s.events.told = s.events.overflow
	u.buffer.Octets = w.Bytes()
	u.retries = 0
	u.due = now.Add(s.config.ConfirmTimeout)
	out.Send(u.buffer.Octets)
}

// resendUnsolicited repeats the report octet by octet: the master knows by that that it
// is the same.
func (s *Session) resendUnsolicited(now time.Time, out *station.Output) {
	s.unsolicited.due = now.Add(s.config.ConfirmTimeout)
	out.Send(s.unsolicited.buffer.Octets)
}

// expireUnsolicited repeats a report that was not confirmed, or gives it up: after the
// last repetition, or because a read waits for it.
func (s *Session) expireUnsolicited(now time.Time, out *station.Output) {
	u := &s.unsolicited
	u.retries++
	if s.deferred == nil && (s.config.Retries == 0 || u.retries <= s.config.Retries) {
		s.resendUnsolicited(now, out)
		return
	}
	s.endUnsolicited(out)
	s.events.putBack()
	if s.deferred == nil {
		u.pause = now.Add(s.config.ConfirmTimeout)
	}
}

// endUnsolicited closes the report; the next one has the next sequence number.
func (s *Session) endUnsolicited(out *station.Output) {
	u := &s.unsolicited
	out.Pool().Return(u.buffer)
	u.buffer, u.due = nil, time.Time{}
	u.sequence = u.sequence.Next()
}

func (s *Session) confirmUnsolicited(_ time.Time, sequence app.Sequence, out *station.Output) {
	u := &s.unsolicited
	switch {
	case u.buffer == nil && u.withdrawn && sequence.Next() == u.sequence:
		u.withdrawn = false
		s.confirmedEvents(s.events.arrived())
		return
	case u.buffer == nil || sequence != u.sequence:
		return
	}
	u.null = false
	s.endUnsolicited(out)
	s.forget()
	s.broadcast = broadcastNone
}

// cancelUnsolicited ends a report that the master no longer wants. It may have it already, and its confirmation
// have crossed the request: then the events are not sent once more.
func (s *Session) cancelUnsolicited(out *station.Output) {
	if s.unsolicited.buffer == nil || s.unsolicited.null {
		return
	}
	s.endUnsolicited(out)
	s.events.withdraw()
	s.unsolicited.withdrawn = true
}

// enable handles FC 20 and 21.
func (s *Session) enable(f app.Fragment, on bool, out *station.Output) app.IIN {
	if !s.config.Unsolicited {
		return app.IINNoFunction
	}
	var classes app.Classes
	for h, err := range f.Headers() {
		class, ok := classOf(h.Variation)
		if err != nil || !ok || class == app.Class0 || h.Qualifier != app.AllObjects {
			return app.IINParameterError
		}
		classes |= class
	}
	if on {
		s.unsolicited.enabled |= classes
		return 0
	}
	s.unsolicited.enabled &^= classes
	if s.events.sent > 0 && s.response.buffer == nil && out != nil {
		s.cancelUnsolicited(out)
	}
	return 0
}

// isFull reports whether an error only says that the fragment is full.
func isFull(err error) bool { return errors.Is(err, app.ErrFull) }
