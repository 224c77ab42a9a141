package master

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// HoldBack is how long an answer may take longer because a report is left unconfirmed: an outstation
// answers no read before it has the confirmation or has waited long enough for it, usually 5 s.
const HoldBack = 10 * time.Second

// leave heeds a report of an association that leaves events to another master. One without objects
// is confirmed: it takes nothing away, and an outstation that has just started answers sooner. What
// it says of lost events is for the other master too.
func (a *Association) leave(now time.Time, f app.Fragment, out *station.Output) {
	if len(f.Objects) == 0 && !f.IIN.Has(app.IINOverflow) {
		if f.Control.Confirm() {
			confirm(f.Control, out)
		}
		return
	}
	a.heldBack = now.Add(HoldBack)
	a.allow(now)
}

// allow gives a read, once, the time for which a report that is left may hold back its answer.
func (a *Association) allow(now time.Time) {
	x := &a.exchanging
	if a.current == nil || !x.first || x.held || !now.Before(a.heldBack) || a.current.request.exchange.function() != app.FuncRead {
		return
	}
	x.held = true
	if x.due.Before(a.heldBack) {
		x.due = a.heldBack
	}
}

// strange reports whether an answer holds events that the question did not ask for, and that are
// to be left to another master.
func (x *exchanging) strange(f app.Fragment) bool {
	if !holds(f, object.Variation.Event) {
		return false
	}
	question, err := app.Parse(x.octets)
	return err != nil || !holds(question, asksForEvents)
}

// asksForEvents reports whether an object of a read asks for events.
func asksForEvents(v object.Variation) bool {
	return v.Event() || v == object.G60V2 || v == object.G60V3 || v == object.G60V4
}

// holds reports whether one of the object headers of a fragment is such a one.
func holds(f app.Fragment, such func(object.Variation) bool) bool {
	for h, err := range f.Headers() {
		if err == nil && such(h.Variation) {
			return true
		}
	}
	return false
}
