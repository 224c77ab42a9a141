package outstation

import (
	"errors"
	"math"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/event"
	"voltbus/protocol/dnp3/station"
)

// unsolicited is the state of reporting unasked (clause 4.2.2).
type unsolicited struct {
	config      *SessionConfig
	events      *event.Buffer
	indications *indications
	reader      *reader

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

// start sends a report if there is a reason to.
func (u *unsolicited) start(now time.Time, out *station.Output) {
	switch {
	case !u.config.Unsolicited || now.Before(u.pause):
		return
	case u.null:
		u.pause = time.Time{}
		u.send(now, 0, out)
	case u.events.Any(u.enabled) && u.collected(now):
		u.hold, u.pause = time.Time{}, time.Time{}
		u.send(now, u.enabled, out)
	}
}

// collected reports whether events have been held long enough.
func (u *unsolicited) collected(now time.Time) bool {
	switch {
	case u.config.Holdoff == 0:
		return true
	case u.config.HoldoffEvents > 0 && u.events.Count(u.enabled) >= u.config.HoldoffEvents:
		return true
	case u.hold.IsZero():
		u.hold = now.Add(u.config.Holdoff)
	}
	return !now.Before(u.hold)
}

func (u *unsolicited) send(now time.Time, classes app.Classes, out *station.Output) {
	u.buffer, u.withdrawn = out.Pool().Borrow(), false
	control := u.sequence.Single() | app.CON | app.UNS
	w := app.NewResponse(u.buffer.Octets, control, app.FuncUnsolicitedResponse, 0)
	if classes != 0 {
		u.reader.writeEvents(&w, &item{slots: database.All, classes: classes, limit: math.MaxUint32})
	}
	w.SetIIN(u.indications.iin())
	u.events.Tell()
	u.buffer.Octets = w.Bytes()
	u.retries = 0
	u.due = now.Add(u.config.ConfirmTimeout)
	out.Send(u.buffer.Octets)
}

// resend repeats the report octet by octet, so that the master knows that it is the same.
func (u *unsolicited) resend(now time.Time, out *station.Output) {
	u.due = now.Add(u.config.ConfirmTimeout)
	out.Send(u.buffer.Octets)
}

// expire repeats a report that was not confirmed, or gives it up: after the
// last repetition, or because a read waits for it.
func (u *unsolicited) expire(now time.Time, deferred bool, out *station.Output) {
	u.retries++
	if !deferred && (u.config.Retries == 0 || u.retries <= u.config.Retries) {
		u.resend(now, out)
		return
	}
	u.end(out)
	u.events.PutBack()
	if !deferred {
		u.pause = now.Add(u.config.ConfirmTimeout)
	}
}

// end closes the report; the next one has the next sequence number.
func (u *unsolicited) end(out *station.Output) {
	out.Pool().Return(u.buffer)
	u.buffer, u.due = nil, time.Time{}
	u.sequence = u.sequence.Next()
}

// confirm takes a confirmation and returns how many events it confirms.
func (u *unsolicited) confirm(sequence app.Sequence, out *station.Output) int {
	switch {
	case u.buffer == nil && u.withdrawn && sequence.Next() == u.sequence:
		u.withdrawn = false
		return u.events.Arrived()
	case u.buffer == nil || sequence != u.sequence:
		return 0
	}
	u.null = false
	u.end(out)
	u.indications.broadcast = broadcastNone
	return u.events.Confirm()
}

// deadline returns when the session has to look after its reports.
func (u *unsolicited) deadline() time.Time {
	if u.buffer != nil {
		return u.due
	}
	return station.Earlier(u.due, station.Earlier(u.hold, u.pause))
}

// cancel ends a report that the master no longer wants. It may have it already, and its confirmation
// have crossed the request: then the events are not sent once more.
func (u *unsolicited) cancel(out *station.Output) {
	if u.buffer == nil || u.null {
		return
	}
	u.end(out)
	u.events.Withdraw()
	u.withdrawn = true
}

// enable handles FC 20.
func (u *unsolicited) enable(f app.Fragment) app.IIN {
	classes, iin := u.classes(f)
	u.enabled |= classes
	return iin
}

// disable handles FC 21, but for the report that waits for its confirmation.
func (u *unsolicited) disable(f app.Fragment) app.IIN {
	classes, iin := u.classes(f)
	u.enabled &^= classes
	return iin
}

// classes returns the event classes that a request is about, none if it is refused.
func (u *unsolicited) classes(f app.Fragment) (app.Classes, app.IIN) {
	if !u.config.Unsolicited {
		return 0, app.IINNoFunction
	}
	var classes app.Classes
	for h, err := range f.Headers() {
		class, ok := classOf(h.Variation)
		if err != nil || !ok || class == app.Class0 || h.Qualifier != app.AllObjects {
			return 0, app.IINParameterError
		}
		classes |= class
	}
	return classes, 0
}

// isFull reports whether an error only says that the fragment is full.
func isFull(err error) bool { return errors.Is(err, app.ErrFull) }
