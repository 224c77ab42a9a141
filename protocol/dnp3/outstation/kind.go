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
	flat   uint8            // variation with flags that replaces a packed one
	frozen slot             // where a frozen value goes; slots if it cannot be frozen
}

var traitsTable = [slots]traits{
	slotBinary:        {object.KindBinaryInput, object.G1V2, object.G2V2, 2, slots},
	slotDouble:        {object.KindDoubleBitInput, object.G3V2, object.G4V2, 2, slots},
	slotBinaryOutput:  {object.KindBinaryOutput, object.G10V2, object.G11V2, 2, slots},
	slotCounter:       {object.KindCounter, object.G20V1, object.G22V5, 0, slotFrozenCounter},
	slotFrozenCounter: {object.KindFrozenCounter, object.G21V1, object.G23V5, 0, slots},
	slotAnalog:        {object.KindAnalogInput, object.G30V1, object.G32V3, 0, slotFrozenAnalog},
	slotFrozenAnalog:  {object.KindFrozenAnalog, object.G31V1, object.G33V3, 0, slots},
	slotAnalogOutput:  {object.KindAnalogOutput, object.G40V1, object.G42V3, 0, slots},
	slotInteger:       {object.KindInteger, object.G102V1, 0, 0, slots},
	slotString:        {object.KindOctetString, object.G110V0, object.G111V0, 0, slots},
	slotTime:          {object.KindTime, object.G50V4, 0, 0, slots},
	slotBinaryCommand: {object.KindBinaryCommandEvent, 0, object.G13V2, 0, slots},
	slotAnalogCommand: {object.KindAnalogCommandEvent, 0, object.G43V3, 0, slots},
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
