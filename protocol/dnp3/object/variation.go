package object

import (
	"fmt"
	"iter"
	"strings"
)

// Variation names a form of object: a group and a variation of it, written g30v5.
// The group is in the high octet.
type Variation uint16

// Of returns the given variation of a group.
func Of(group, variation uint8) Variation {
	return Variation(group)<<8 | Variation(variation)
}

// Group returns the object group.
func (v Variation) Group() uint8 { return uint8(v >> 8) }

// Number returns the variation within the group; 0 asks for any.
func (v Variation) Number() uint8 { return uint8(v) }

// String returns the usual short form such as g30v5.
func (v Variation) String() string {
	return fmt.Sprintf("g%dv%d", v.Group(), v.Number())
}

// Layout returns how objects of v are written, nil if v is unknown.
func (v Variation) Layout() *Layout {
	group := table[v.Group()]
	if int(v.Number()) >= len(group) || group[v.Number()].has(gap) {
		return nil
	}
	return &group[v.Number()]
}

// Known reports whether this package can encode and decode v.
func (v Variation) Known() bool { return v.Layout() != nil }

// Kind returns what the objects stand for, 0 if v is unknown.
func (v Variation) Kind() Kind {
	if l := v.Layout(); l != nil {
		return l.kind
	}
	return 0
}

// Event reports whether the objects are events rather than current values.
func (v Variation) Event() bool {
	l := v.Layout()
	return l != nil && l.has(isEvent)
}

// Timed reports whether the objects carry a time, absolute or relative.
func (v Variation) Timed() bool {
	l := v.Layout()
	return l != nil && l.has(timed|offset)
}

// Flagged reports whether the objects carry quality flags.
func (v Variation) Flagged() bool {
	l := v.Layout()
	return l != nil && l.has(flagged)
}

// Size returns the octets of one object without index or size prefix. It is 0 for
// packed bits, for objects that say their size themselves and for those without a
// value.
func (v Variation) Size() int {
	if l := v.Layout(); l != nil {
		return int(l.size)
	}
	return 0
}

var valueNames = [...]string{
	noValue: "", stateBit: "", statePair: "",
	u8: "8-bit", u16: "16-bit", u32: "32-bit", i16: "16-bit", i32: "32-bit",
	f32: "single-precision", f64: "double-precision",
}

// Describe returns a line for tables of supported objects such as
// "analog input, event, 32-bit, with flags, with time".
func (v Variation) Describe() string {
	l := v.Layout()
	if l == nil {
		return "unknown"
	}
	words := []string{l.kind.String()}
	add := func(word string, when bool) {
		if when && word != "" {
			words = append(words, word)
		}
	}
	add("event", l.has(isEvent))
	add("any", l.form == FormNone && l.kind != KindClass)
	add("packed", l.form == FormPacked)
	add(valueNames[l.value], true)
	add("with flags", l.has(flagged))
	add("with status", l.has(statusOf|statusAt))
	add("with time", l.has(timed))
	add("with relative time", l.has(offset))
	return strings.Join(words, ", ")
}

// Variations yields every known variation in ascending order. Groups whose
// variation is a length or an attribute number yield all 256.
func Variations() iter.Seq[Variation] {
	return func(yield func(Variation) bool) {
		for group := range table {
			for number := range table[group] {
				v := Of(uint8(group), uint8(number))
				if v.Known() && !yield(v) {
					return
				}
			}
		}
	}
}
