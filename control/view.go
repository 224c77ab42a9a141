package control

import (
	"encoding/json"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Output is the known state of a commanded point.
type Output string

// The states.
const (
	Idle    Output = "idle"    // never commanded, or released
	Writing Output = "writing" // a write is in progress
	// Confirmed says that the device reported the written value.
	Confirmed Output = "held"
	Differs   Output = "differs" // the device accepted the write, but reports another value
	Failed    Output = "failed"  // the write was not carried out, and is retried
	Unknown   Output = "unknown" // the point's value is unknown: an answer was lost, or it cannot be read
	// Mismatch says that the device had the written value, but now reports another one.
	Mismatch Output = "mismatch"
	// Waiting says that the point keeps its previous value, because a rate, a minimum time, a pause or an
	// override delays the commanded value.
	Waiting Output = "waiting"
)

// View is the state of a point as people see it.
type View struct {
	Spec       Spec
	Array      []Slot // the occupied levels, most urgent first
	Overrides  []Holder
	Window     *Holder     // the reservation that holds it now
	Commanded  point.Value // the value it should have; the zero Value if none is commanded
	Reverting  bool        // the commanded value is that of the revert
	Output     Output
	Held       point.Value // what it was last set to, if known
	Place      Level       // the level of that in the device's own priority array; 0 if it has none, or nothing is commanded
	Reported   point.Value // what the device last answered
	Observed   point.Value // the last value read
	Later      time.Time   // when it continues, if a rate, minimum time or pause delays it
	Failures   int         // of writes, in a row
	FailedWith string      // the device's message; untrusted
	FailedKind fault.Kind  // of the last failure, if there are Failures
}

// Slot is one level of the array.
type Slot struct {
	Holder
	Value point.Value
}

// Task is a reservation and its state.
type Task struct {
	Reservation      // with its remaining windows
	Started     bool // its first window has started
	Preempted   bool // it ends soon, in favour of another one
	Active      []Window
}

// MismatchedPoint is a point that does not have its commanded value, as far as is known.
type MismatchedPoint struct {
	Point  point.Path
	Output Output // Mismatch, Differs or Failed; Unknown if the device did not answer
	Why    string // for Failed and Unknown: why the last write or read gave no result, as reported by the device or the driver; untrusted
}

// Version is the version of State.
const Version = 1

// Record is one part of the stored state. Later ones of the same kind and key replace earlier ones.
type Record struct {
	Kind string          `json:"kind"`
	Key  string          `json:"key"`
	Data json.RawMessage `json:"data,omitempty"` // nil: it was removed
}

// State is the complete stored state, for JSON.
type State struct {
	Version int       `json:"version"`
	Time    time.Time `json:"time"` // when it was exported
	Records []Record  `json:"records"`
}
