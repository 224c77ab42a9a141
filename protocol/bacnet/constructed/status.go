package constructed

import (
	"strings"

	"voltbus/protocol/bacnet/encoding"
)

// StatusFlags tells of the health of an object (BACnetStatusFlags).
type StatusFlags struct {
	InAlarm, Fault, Overridden, OutOfService bool
}

// StatusFlagsOf reads the value of a property status-flags; missing bits are false.
func StatusFlagsOf(b encoding.BitString) StatusFlags {
	return StatusFlags{InAlarm: b.Bit(0), Fault: b.Bit(1), Overridden: b.Bit(2), OutOfService: b.Bit(3)}
}

// Bits returns the flags as the property has them.
func (s StatusFlags) Bits() encoding.BitString {
	return encoding.Bits(s.InAlarm, s.Fault, s.Overridden, s.OutOfService)
}

// String names the flags that are set, such as in-alarm,fault; normal if none is.
func (s StatusFlags) String() string {
	var set []string
	for _, flag := range []struct {
		on   bool
		name string
	}{{s.InAlarm, "in-alarm"}, {s.Fault, "fault"}, {s.Overridden, "overridden"}, {s.OutOfService, "out-of-service"}} {
		if flag.on {
			set = append(set, flag.name)
		}
	}
	if len(set) == 0 {
		return "normal"
	}
	return strings.Join(set, ",")
}

// Priorities is how many priorities a command has; 1 is the highest (clause 19.2).
const Priorities = 16

// PriorityArray is the value of a property priority-array: element 0 is priority 1, null stands
// for no command.
type PriorityArray [Priorities]encoding.Value

// ReadPriorityArray reads the property; an element that is constructed stays raw.
func ReadPriorityArray(d *encoding.Decoder) PriorityArray {
	var a PriorityArray
	for i := range a {
		a[i] = d.Value()
	}
	return a
}

// Append writes the elements.
func (a PriorityArray) Append(b []byte) []byte {
	for _, v := range a {
		b = v.Append(b, encoding.App)
	}
	return b
}

// Active returns the command that counts and its priority from 1; 0 if there is none.
func (a PriorityArray) Active() (encoding.Value, int) {
	for i, v := range a {
		if v.Kind() != encoding.KindNull {
			return v, i + 1
		}
	}
	return encoding.Null(), 0
}
