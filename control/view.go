package control

import (
	"encoding/json"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Output says what is known about what a point was set to.
type Output string

// The states.
const (
	Idle    Output = "idle"    // never commanded, or given back
	Writing Output = "writing" // a write is under way
	// Confirmed says that the device reported the value that was written.
	Confirmed Output = "held"
	Differs   Output = "differs" // the device took the write, and reports another value
	Failed    Output = "failed"  // the write was not carried out, and is tried again
	Unknown   Output = "unknown" // what the point holds is not known: an answer was lost, or it cannot be read
	// Mismatch says that the device had what was written, and now reports another value.
	Mismatch Output = "mismatch"
	// Waiting says that the point has what it was set to before, because a rate, a minimum time, a pause or an
	// override holds the commanded value back.
	Waiting Output = "waiting"
)

// View is what a person sees of a point.
type View struct {
	Spec       Spec
	Array      []Slot // the levels that are taken, the most urgent first
	Overrides  []Holder
	Window     *Holder     // the reservation that holds it now
	Commanded  point.Value // what it should be; the zero Value if nothing is commanded
	Reverting  bool        // the commanded value is that of the revert
	Output     Output
	Held       point.Value // what it was last set to, as far as known
	Reported   point.Value // what the device last answered
	Observed   point.Value // the last value that was read
	Later      time.Time   // when it goes on, if a rate, minimum time or pause holds it back
	Failures   int         // of writes, in a row
	FailedWith string      // the device's words; hostile
	FailedKind fault.Kind  // of the last failure, if there are Failures
}

// Slot is one level of the array.
type Slot struct {
	Holder
	Value point.Value
}

// Task is a reservation as it stands.
type Task struct {
	Reservation      // with the windows that are left
	Started     bool // its first window has started
	Preempted   bool // it ends soon, for another one
	Active      []Window
}

// MismatchedPoint is a point that does not have what it should have, as far as is known.
type MismatchedPoint struct {
	Point  point.Path
	Output Output // Mismatch, Differs or Failed; Unknown if the device was asked in vain
	Why    string // of Failed and Unknown: why the last write or read gave no result, as the device or the driver says; hostile
}

// Version is the version of State.
const Version = 1

// Record is one part of the state at rest. Later ones of the same kind and key replace earlier ones.
type Record struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key"`
	Data json.RawMessage `json:"data,omitempty"` // nil: it is gone
}

// State is the whole state at rest, for JSON.
type State struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // when it was exported
	Records []Record  `json:"records"`
}
