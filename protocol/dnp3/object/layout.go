package object

// encoding says how the value of a point of whole octets is written.
type encoding uint8

const (
	noValue   encoding = iota
	stateBit           // bit 7 of the flags
	statePair          // bits 7–6 of the flags
	u8                 // unsigned, low octet first
	u16                //
	u32                //
	i16                // two's complement
	i32                //
	f32                // IEEE 754
	f64                //
)

// sizeTable is the number of octets of a value outside the flags.
var sizeTable = [f64 + 1]uint8{u8: 1, u16: 2, u32: 4, i16: 2, i32: 4, f32: 4, f64: 8}

// parts says what surrounds the value.
type parts uint8

const (
	flagged  parts = 1 << iota // flags first
	timed                      // absolute time last
	offset                     // relative time last
	statusOf                   // command status first
	statusAt                   // command status last
	isEvent                    // an event, not a current value
	gap                        // an unassigned variation
)

// Layout says how objects of one variation are written.
type Layout struct {
	kind  Kind
	form  Form
	value encoding
	parts parts
	size  uint8
	bits  uint8
}

// Form says what follows the object header.
type Form uint8

// Forms of objects.
const (
	// FormNone: nothing, the header says it all.
	FormNone Form = iota
	// FormPoint: points of Size octets each, read by [Layout.Decode].
	FormPoint
	// FormPacked: points of Bits bits each, the lowest bit first.
	FormPacked
	// FormFixed: objects of Size octets each that are no points.
	FormFixed
	// FormTyped: attributes, which say their size behind their type.
	FormTyped
	// FormFree: objects that a size precedes.
	FormFree
)

// Kind returns what the objects stand for.
func (l *Layout) Kind() Kind { return l.kind }

// Size returns the octets of one object, 0 unless the form is FormPoint or FormFixed.
func (l *Layout) Size() int { return int(l.size) }

// Bits returns the bits of one packed object, 1 or 2, else 0.
func (l *Layout) Bits() int { return int(l.bits) }

// Form returns what follows the object header.
func (l *Layout) Form() Form { return l.form }

func (l *Layout) has(p parts) bool { return l.parts&p != 0 }

// row describes a variation made of a value and its surroundings.
func row(kind Kind, value encoding, p parts) Layout {
	size := sizeTable[value]
	if p&(flagged|statusOf|statusAt) != 0 {
		size++
	}
	if p&timed != 0 {
		size += TimeSize
	}
	if p&offset != 0 {
		size += 2
	}
	return Layout{kind: kind, form: FormPoint, value: value, parts: p, size: size}
}

// packed describes a variation of packed bits.
func packed(kind Kind, bits uint8) Layout {
	return Layout{kind: kind, form: FormPacked, bits: bits}
}

// block describes a variation of size octets that is not a point.
func block(kind Kind, size uint8) Layout {
	return Layout{kind: kind, form: FormFixed, size: size}
}

// every describes variation 0, with which a master asks for any variation.
func every(kind Kind) Layout { return Layout{kind: kind} }

// anyEvent describes variation 0 of a group of events.
func anyEvent(kind Kind) Layout { return Layout{kind: kind, parts: isEvent} }

// missing describes an unassigned variation.
func missing() Layout { return Layout{parts: gap} }

// same returns n layouts alike.
func same(n int, kind Kind, form Form) []Layout {
	all := make([]Layout, n)
	for i := range all {
		all[i] = Layout{kind: kind, form: form}
	}
	return all
}

// texts returns 256 layouts of as many octets as the variation says.
func texts(kind Kind, p parts) []Layout {
	all := same(256, kind, FormFixed)
	for i := range all {
		all[i].size, all[i].parts = uint8(i), p
	}
	return all
}
