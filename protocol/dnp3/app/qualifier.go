package app

import (
	"encoding/binary"
	"fmt"
)

// Qualifier is the third octet of an object header (clause 4.2.2): bits 6–4 say
// what precedes each object, bits 3–0 how the objects are counted.
type Qualifier uint8

// Qualifiers in use.
const (
	// Range8, Range16 and Range32 give a start and a stop index.
	Range8  Qualifier = 0x00
	Range16 Qualifier = 0x01
	Range32 Qualifier = 0x02
	// Virtual8, Virtual16 and Virtual32 give start and stop virtual addresses.
	Virtual8  Qualifier = 0x03
	Virtual16 Qualifier = 0x04
	Virtual32 Qualifier = 0x05
	// AllObjects means all there are; only in requests that carry no values.
	AllObjects Qualifier = 0x06
	// Count8, Count16 and Count32 give a number of objects.
	Count8  Qualifier = 0x07
	Count16 Qualifier = 0x08
	Count32 Qualifier = 0x09
	// Index8, Index16 and Index32 give a count and put an index of the same size
	// before each object.
	Index8  Qualifier = 0x17
	Index16 Qualifier = 0x28
	Index32 Qualifier = 0x39
	// FreeFormat gives a one-octet count and puts a two-octet size before each object.
	FreeFormat Qualifier = 0x5B
)

// Range specifier codes, bits 3–0.
const (
	lastRange  = 0x05
	rangeAll   = 0x06
	firstCount = 0x07
	lastCount  = 0x09
	rangeFree  = 0x0B
)

// prefixTable and fieldTable give octets by prefix code and by range specifier code.
var (
	prefixTable = [8]uint8{0, 1, 2, 4, 1, 2, 4}
	fieldTable  = [16]uint8{1, 2, 4, 1, 2, 4, 0, 1, 2, 4, 0, 1}
)

// String returns the qualifier in hexadecimal.
func (q Qualifier) String() string { return fmt.Sprintf("0x%02X", uint8(q)) }

// Prefixed reports whether an index precedes each object.
func (q Qualifier) Prefixed() bool { return q.prefix() > 0 && q.code() != rangeFree }

// Ranged reports whether the header gives a start and a stop index.
func (q Qualifier) Ranged() bool { return q.code() <= lastRange }

func (q Qualifier) code() uint8 { return uint8(q) & 0x0F }

// prefix returns the octets of index or size before each object, 0, 1, 2 or 4.
func (q Qualifier) prefix() int {
	return int(prefixTable[q>>4&7])
}

// width returns the octets of one field of the range: a count, a start, a stop.
func (q Qualifier) width() int {
	return int(fieldTable[q.code()])
}

// fields returns how many fields the range has.
func (q Qualifier) fields() int {
	switch c := q.code(); {
	case c <= lastRange:
		return 2
	case c == rangeAll:
		return 0
	default:
		return 1
	}
}

// valid reports whether prefix and range go together: sizes with the free format,
// indexes with counts, nothing with ranges.
func (q Qualifier) valid() bool {
	kind, c := uint8(q>>4), q.code()
	switch {
	case c == rangeFree:
		return kind >= 4 && kind <= 6
	case c >= firstCount && c <= lastCount:
		return kind <= 3
	default:
		return kind == 0 && c <= rangeAll
	}
}

// readUint decodes the 0, 1, 2 or 4 octets of p.
func readUint(p []byte) uint32 {
	switch len(p) {
	case 0:
		return 0
	case 1:
		return uint32(p[0])
	case 2:
		return uint32(binary.LittleEndian.Uint16(p))
	default:
		return binary.LittleEndian.Uint32(p)
	}
}

// putUint encodes v into the 1, 2 or 4 octets of p.
func putUint(p []byte, v uint32) {
	switch len(p) {
	case 1:
		p[0] = byte(v)
	case 2:
		binary.LittleEndian.PutUint16(p, uint16(v))
	default:
		binary.LittleEndian.PutUint32(p, v)
	}
}

// appendUint appends v in width octets: 1, 2 or 4.
func appendUint(dst []byte, v uint32, width int) []byte {
	switch width {
	case 1:
		return append(dst, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	default:
		return binary.LittleEndian.AppendUint32(dst, v)
	}
}
