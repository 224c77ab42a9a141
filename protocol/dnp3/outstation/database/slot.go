package database

import "voltbus/protocol/dnp3/object"

// Slot numbers the kinds of points that have current values.
type Slot uint8

// Slots, in the order in which points are reported.
const (
	Binary Slot = iota
	Double
	BinaryOutput
	Counter
	FrozenCounter
	Analog
	FrozenAnalog
	AnalogOutput
	Integer // no events
	String
	Time          // no events
	BinaryCommand // events only, and so on
	AnalogCommand
	Slots // their number, and no slot
)

// Values is the number of slots whose points have current values.
const Values = BinaryCommand

// Traits says how a kind of point is reported.
type Traits struct {
	Kind   object.Kind
	Static object.Variation // group and default variation of current values
	Event  object.Variation // group and default variation of events, 0 if there are none
	// plain are the variations of current values without flags, and flat those that replace them where a point is not
	// just online or its value does not fit: as many octets and flags (IEEE 1815-2012 clause 11.3, Annex A).
	plain, flat [2]uint8
	Frozen      Slot // where a frozen value goes; Slots if it cannot be frozen
}

var traitsTable = [Slots]Traits{
	Binary:        {object.KindBinaryInput, object.G1V2, object.G2V2, [2]uint8{1}, [2]uint8{2}, Slots},
	Double:        {object.KindDoubleBitInput, object.G3V2, object.G4V2, [2]uint8{1}, [2]uint8{2}, Slots},
	BinaryOutput:  {object.KindBinaryOutput, object.G10V2, object.G11V2, [2]uint8{1}, [2]uint8{2}, Slots},
	Counter:       {object.KindCounter, object.G20V1, object.G22V5, [2]uint8{5, 6}, [2]uint8{1, 2}, FrozenCounter},
	FrozenCounter: {object.KindFrozenCounter, object.G21V1, object.G23V5, [2]uint8{9, 10}, [2]uint8{1, 2}, Slots},
	Analog:        {object.KindAnalogInput, object.G30V1, object.G32V3, [2]uint8{3, 4}, [2]uint8{1, 2}, FrozenAnalog},
	FrozenAnalog:  {object.KindFrozenAnalog, object.G31V1, object.G33V3, [2]uint8{5, 6}, [2]uint8{1, 2}, Slots},
	AnalogOutput:  {Kind: object.KindAnalogOutput, Static: object.G40V1, Event: object.G42V3, Frozen: Slots},
	Integer:       {Kind: object.KindInteger, Static: object.G102V1, Event: 0, Frozen: Slots},
	String:        {Kind: object.KindOctetString, Static: object.G110V0, Event: object.G111V0, Frozen: Slots},
	Time:          {Kind: object.KindTime, Static: object.G50V4, Event: 0, Frozen: Slots},
	BinaryCommand: {Kind: object.KindBinaryCommandEvent, Static: 0, Event: object.G13V2, Frozen: Slots},
	AnalogCommand: {Kind: object.KindAnalogCommandEvent, Static: 0, Event: object.G43V3, Frozen: Slots},
}

// WithFlags returns the variation that replaces one without flags; false for those that have them, and for points without.
func (t *Traits) WithFlags(variation uint8) (uint8, bool) {
	for i, plain := range t.plain {
		if plain != 0 && plain == variation {
			return t.flat[i], true
		}
	}
	return 0, false
}

// TraitsOf says how the points of a slot are reported.
func TraitsOf(s Slot) *Traits { return &traitsTable[s] }

// slotTable gives the slot of a kind.
var slotTable = makeSlotTable()

func makeSlotTable() (table [256]Slot) {
	for kind := range table {
		table[kind] = Slots
	}
	for s := range Slots {
		table[traitsTable[s].Kind] = s
	}
	return table
}

// SlotOf returns the slot of a kind, Slots if points of the kind are unknown here.
func SlotOf(k object.Kind) Slot { return slotTable[k] }

// CommandSlot returns where commands to the points of a slot are reported, Slots if they
// take none.
func CommandSlot(s Slot) Slot {
	switch s {
	case BinaryOutput:
		return BinaryCommand
	case AnalogOutput:
		return AnalogCommand
	default:
		return Slots
	}
}

// Command reports whether the events of a slot carry a status instead of flags.
func (s Slot) Command() bool { return s >= BinaryCommand && s < Slots }

// Set is a set of slots.
type Set uint16

// All is the set of all slots.
const All Set = 1<<Slots - 1

// Set returns the set of this slot alone.
func (s Slot) Set() Set { return 1 << s }

// Has reports whether a slot is in the set.
func (set Set) Has(s Slot) bool { return set&(1<<s) != 0 }
