package alarm

import (
	"time"

	"voltbus/point"
)

// State is the state of an alarm (ISA-18.2, 5.3; IEC 62682, 5.4).
type State string

// The states. The letters are those of the standard's diagram.
const (
	Normal                State = "normal"                 // A
	Unacknowledged        State = "unacknowledged"         // B: active, and nobody has seen it
	Acknowledged          State = "acknowledged"           // C: active, and an operator has seen it
	Returned              State = "returned"               // D: over, and nobody has seen it
	LatchedUnacknowledged State = "latched_unacknowledged" // E: over, waits to be acknowledged and reset
	LatchedAcknowledged   State = "latched_acknowledged"   // F: over, waits to be reset
	Shelved               State = "shelved"                // G: not annunciated for a time, by an operator
	Suppressed            State = "suppressed"             // H: not annunciated, by design
	OutOfService          State = "out_of_service"         // I: not annunciated until an engineer ends that
)

// States lists the states.
func States() []State {
	return []State{Normal, Unacknowledged, Acknowledged, Returned, LatchedUnacknowledged, LatchedAcknowledged, Shelved, Suppressed, OutOfService}
}

// ID names an alarm: a rule and a point with @ between them. Alarms that others raise, such as agents, have "agent:" and the agent's name in
// the place of the rule, and the key of the alert in that of the point.
type ID string

// IDOf returns the name of the alarm of a rule for a point.
func IDOf(rule string, about point.Path) ID { return ID(rule + "@" + string(about)) }

// Event is what changed an alarm.
type Event string

// The events.
const (
	EventOpened       Event = "opened"          // the condition holds
	EventReturned     Event = "returned"        // the condition is over
	EventAcknowledged Event = "acknowledged"    // by an operator
	EventReset        Event = "reset"           // a latched alarm, by an operator
	EventShelved      Event = "shelved"         // by an operator
	EventUnshelved    Event = "unshelved"       // by an operator
	EventShelfExpired Event = "shelf_expired"   // its time is over
	EventSuppressed   Event = "suppressed"      // by design
	EventUnsuppressed Event = "unsuppressed"    // by design
	EventRemoved      Event = "out_of_service"  // by an engineer
	EventRestored     Event = "back_in_service" // by an engineer
	EventEnded        Event = "ended"           // its rule was removed or does not select the point any more
)

// Transition is a change of an alarm.
type Transition struct {
	Alarm    ID
	Rule     string
	Point    point.Path
	Event    Event
	From, To State
	At       time.Time
	By       string // who; "" for the node
	Note     string
	Priority Priority
	Text     string // what is wrong
	Value    string // of the point
	First    bool   // the first one in its group
}

// Alarm is the state of one alarm that is not normal, or is kept from being annunciated. It is complete: an engine goes on from it.
type Alarm struct {
	ID       ID
	Rule     string
	Point    point.Path
	Priority Priority
	Text     string

	Active  bool // the condition holds
	Seen    bool // an operator has acknowledged it
	Latched bool // it is over and waits to be reset

	Since time.Time // when it opened, or returned to normal
	Value string    // when it opened
	Limit string    // of the rule
	Count int       // how often it opened since it was normal
	First bool      // it opened first in its group
	Group string

	SeenBy   string
	SeenAt   time.Time
	Note     string    // of the last act
	Shelf    time.Time // until when it is shelved; zero: it is not
	ShelfBy  string
	Design   bool // suppressed by design
	Out      bool // out of service
	OutBy    string
	External bool // no rule raises it
}

// State returns the state.
func (a *Alarm) State() State {
	switch {
	case a.Out:
		return OutOfService
	case a.Design:
		return Suppressed
	case !a.Shelf.IsZero():
		return Shelved
	case a.Active && a.Seen:
		return Acknowledged
	case a.Active:
		return Unacknowledged
	case a.Latched && a.Seen:
		return LatchedAcknowledged
	case a.Latched:
		return LatchedUnacknowledged
	case a.waits():
		return Returned
	}
	return Normal
}

// waits reports whether it is over and nobody has seen it.
func (a *Alarm) waits() bool { return !a.Active && !a.Seen && a.Count > 0 }

// kept reports whether it is kept from being annunciated.
func (a *Alarm) kept() bool { return a.Out || a.Design || !a.Shelf.IsZero() }

// Open reports whether operators are told of it.
func (a *Alarm) Open() bool { return !a.kept() && a.State() != Normal }

// Idle reports whether nothing needs to be remembered of it.
func (a *Alarm) Idle() bool { return !a.kept() && a.State() == Normal }
