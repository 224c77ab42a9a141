package outstation

import (
	"time"

	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/object"
)

// Callbacks connect an outstation with its application. Any may be nil: the outstation
// then does without, or refuses what it cannot do. They are called while the
// outstation is locked: they must not block and must not call methods of the
// [Outstation], but may change values through the [Tx] they are given.
type Callbacks struct {
	// Select says whether a command would be accepted, without doing anything. If it
	// is nil, every point that Operate exists for can be selected.
	Select func(c Command) object.Status
	// Operate carries a command out, or begins to.
	Operate func(tx *Tx, c Command) object.Status
	// SetTime sets the clock; false refuses the time.
	SetTime func(t time.Time) bool
	// Restart begins a restart and says how long it will take; false refuses it. The
	// answer is sent after the callback returns, so the restart must be put off.
	Restart func(warm bool) (time.Duration, bool)
	// Activate activates a configuration that was transferred before (FC 31), and says how
	// long the device cannot be spoken to, from when the answer is sent, and a status, 0
	// for success. If it is nil the function is refused.
	Activate func(name string) (time.Duration, uint8)
	// WriteAttribute changes a device attribute (g0) of a set; false refuses it. Without it
	// none can be written, with it the outstation lists all as writable.
	WriteAttribute func(set, number uint8, a object.Attribute) bool
	// WriteString changes an octet string (g110); false refuses it.
	WriteString func(tx *Tx, index uint32, text []byte) bool
	// WriteInteger changes an unsigned integer (g102); false refuses it. The value is stored
	// by [Tx.Set] only.
	WriteInteger func(tx *Tx, index uint32, value uint8) bool
	// WriteTime changes a repeating time (g50v4); false refuses it. It is stored by
	// [Tx.SetTime] only.
	WriteTime func(tx *Tx, index uint32, t object.IndexedTime) bool
	// Confirmed says that a master confirmed a fragment with events. Events made here
	// are reported next.
	Confirmed func(tx *Tx, master link.Address, events int)
	// Changed says that a master assigned classes or wrote dead-bands, which the
	// application may want to keep.
	Changed func(tx *Tx, kind object.Kind)
}

// Phase says what is asked of a command.
type Phase uint8

// Phases of a command.
const (
	// Selecting: check only, an Operating follows or not.
	Selecting Phase = iota
	// Operating: carry out what was selected.
	Operating
	// Direct: carry out without a select.
	Direct
)

// Command is a command on one point.
type Command struct {
	// Kind is KindBinaryCommand, with a CROB, or KindAnalogCommand, with a Value.
	Kind  object.Kind
	Index uint32
	CROB  object.CROB
	Value object.Value
	Phase Phase
	// Master is the link address of the caller.
	Master link.Address
	// Time is when the request arrived, by the clock that drives the session.
	Time time.Time
}
