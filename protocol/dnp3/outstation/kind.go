package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// slot numbers the kinds of points that have current values.
type slot uint8

const (
	slotBinary slot = iota
	slotDouble
	slotBinaryOutput
	slotCounter
	slotFrozenCounter
	slotAnalog
	slotFrozenAnalog
	slotAnalogOutput
	slotInteger // no events
	slotString
	slotTime          // no events
	slotBinaryCommand // events only, and so on
	slotAnalogCommand
	slots
)

// slotValues is the number of slots whose points have current values.
const slotValues = slotBinaryCommand

// traits says how a kind of point is reported.
type traits struct {
	kind   object.Kind
	static object.Variation // group and default variation of current values
	event  object.Variation // group and default variation of events, 0 if there are none
	// plain are the variations of current values without flags, and flat those that replace them where a point is not
	// just online or its value does not fit: as many octets and flags (IEEE 1815-2012 clause 11.3, Annex A).
	plain, flat [2]uint8
	frozen      slot // where a frozen value goes; slots if it cannot be frozen
}

var traitsTable = [slots]traits{
	slotBinary:        {object.KindBinaryInput, object.G1V2, object.G2V2, [2]uint8{1}, [2]uint8{2}, slots},
	slotDouble:        {object.KindDoubleBitInput, object.G3V2, object.G4V2, [2]uint8{1}, [2]uint8{2}, slots},
	slotBinaryOutput:  {object.KindBinaryOutput, object.G10V2, object.G11V2, [2]uint8{1}, [2]uint8{2}, slots},
	slotCounter:       {object.KindCounter, object.G20V1, object.G22V5, [2]uint8{5, 6}, [2]uint8{1, 2}, slotFrozenCounter},
	slotFrozenCounter: {object.KindFrozenCounter, object.G21V1, object.G23V5, [2]uint8{9, 10}, [2]uint8{1, 2}, slots},
	slotAnalog:        {object.KindAnalogInput, object.G30V1, object.G32V3, [2]uint8{3, 4}, [2]uint8{1, 2}, slotFrozenAnalog},
	slotFrozenAnalog:  {object.KindFrozenAnalog, object.G31V1, object.G33V3, [2]uint8{5, 6}, [2]uint8{1, 2}, slots},
	slotAnalogOutput:  {kind: object.KindAnalogOutput, static: object.G40V1, event: object.G42V3, frozen: slots},
	slotInteger:       {kind: object.KindInteger, static: object.G102V1, event: 0, frozen: slots},
	slotString:        {kind: object.KindOctetString, static: object.G110V0, event: object.G111V0, frozen: slots},
	slotTime:          {kind: object.KindTime, static: object.G50V4, event: 0, frozen: slots},
	slotBinaryCommand: {kind: object.KindBinaryCommandEvent, static: 0, event: object.G13V2, frozen: slots},
	slotAnalogCommand: {kind: object.KindAnalogCommandEvent, static: 0, event: object.G43V3, frozen: slots},
}

// withFlags returns the variation that replaces one without flags; false for those that have them, and for points without.
func (t *traits) withFlags(variation uint8) (uint8, bool) {
	for i, plain := range t.plain {
		if plain != 0 && plain == variation {
			return t.flat[i], true
		}
	}
	return 0, false
}

// slotTable gives the slot of a kind.
var slotTable = makeSlotTable()

func makeSlotTable() (table [256]slot) {
	for kind := range table {
		table[kind] = slots
	}
	for s := range slots {
		table[traitsTable[s].kind] = s
	}
	return table
}

// slotOf returns the slot of a kind, slots if points of the kind are unknown here.
func slotOf(k object.Kind) slot { return slotTable[k] }

// commandSlot returns where commands to the points of a slot are reported, slots if they
// take none.
func commandSlot(s slot) slot {
	switch s {
	case slotBinaryOutput:
		return slotBinaryCommand
	case slotAnalogOutput:
		return slotAnalogCommand
	default:
		return slots
	}
}

// command reports whether the events of a slot carry a status instead of flags.
func (s slot) command() bool { return s >= slotBinaryCommand && s < slots }

// slotSet is a set of slots.
type slotSet uint16

const allSlots slotSet = 1<<slots - 1

func (s slot) set() slotSet { return 1 << s }

func (set slotSet) has(s slot) bool { return set&(1<<s) != 0 }

// classNumber returns 0, 1, 2 for an event class.
func classNumber(c app.Classes) int {
	switch c {
	case app.Class1:
		return 0
	case app.Class2:
		return 1
	default:
		return 2
	}
}

// classIIN returns the indication that events of the class wait.
func classIIN(class int) app.IIN { return app.IINClass1 << class }
