package app

// encoding says how the value of an object is written.
type encoding uint8

const (
	noValue    encoding = iota // the header says it all
	packedBit                  // one bit each, lowest first
	packedPair                 // two bits each, lowest first
	stateBit                   // bit 7 of the flags
	statePair                  // bits 7–6 of the flags
	u8                         // unsigned, low octet first
	u16                        //
	u32                        //
	i16                        // two's complement
	i32                        //
	f32                        // IEEE 754
	f64                        //
	opaque                     // octets of known size, not a point
	sized                      // as many octets as the variation says
	typed                      // type code, length, octets
	free                       // free format: the size precedes the object
)

// sizeTable is the number of octets of a value outside the flags.
var sizeTable = [free + 1]uint8{u8: 1, u16: 2, u32: 4, i16: 2, i32: 4, f32: 4, f64: 8}

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

// layout describes how objects of one variation are written.
type layout struct {
	kind  Kind
	value encoding
	parts parts
	size  uint8
}

// point reports whether the objects are points of whole octets.
func (l *layout) point() bool { return l.value >= stateBit && l.value <= f64 }

// packed returns the bits per object of a packed layout, else 0.
func (l *layout) packed() uint64 {
	switch l.value {
	case packedBit:
		return 1
	case packedPair:
		return 2
	default:
		return 0
	}
}

func (l *layout) has(p parts) bool { return l.parts&p != 0 }

// row describes a variation made of a value and its surroundings.
func row(kind Kind, value encoding, p parts) layout {
	size := sizeTable[value]
	if p&(flagged|statusOf|statusAt) != 0 {
		size++
	}
	if p&timed != 0 {
		size += timeSize
	}
	if p&offset != 0 {
		size += 2
	}
	return layout{kind: kind, value: value, parts: p, size: size}
}

// block describes a variation of size octets that is not a point.
func block(kind Kind, size uint8) layout {
	return layout{kind: kind, value: opaque, size: size}
}

// every describes variation 0, with which a master asks for any variation.
func every(kind Kind) layout { return layout{kind: kind} }

// missing describes an unassigned variation.
func missing() layout { return layout{parts: gap} }

// same returns n layouts alike, the size of the i-th being i if bySize.
func same(n int, kind Kind, value encoding, p parts, bySize bool) []layout {
	all := make([]layout, n)
	for i := range all {
		all[i] = layout{kind: kind, value: value, parts: p}
		if bySize {
			all[i].size = uint8(i)
		}
	}
	return all
}
