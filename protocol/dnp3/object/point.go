package object

import (
	"encoding/binary"
	"math"
)

// Point is a value of one input, output or counter.
type Point struct {
	// Value is the state or number. Its form follows from the variation: states
	// for binary points, unsigned for counters, dead-bands (g34v1–2) and g102,
	// signed or float for analogs.
	Value Value
	// Time is set in variations that carry one.
	Time Timestamp
	// Index is the point's number among those of its kind.
	Index uint32
	// Flags is the quality; FlagOnline when the variation carries no flags.
	Flags Flags
	// Status is set in commands (g41) and command events (g13, g43).
	Status Status
}

// Decode reads one object of a layout of FormPoint from p, which holds at least
// Size octets, into point. Relative times are added to the common time base.
func (l *Layout) Decode(point *Point, p []byte, base Timestamp) {
	point.Flags = FlagOnline
	if l.parts&(flagged|statusOf) != 0 {
		l.decodeLead(point, p[0])
		p = p[1:]
	}
	if l.value > statePair {
		point.Value = l.value.read(p)
		p = p[sizeTable[l.value]:]
	}
	switch {
	case l.has(timed):
		point.Time = ReadTime(p)
	case l.has(offset):
		point.Time = base.relative(binary.LittleEndian.Uint16(p))
	case l.has(statusAt):
		point.Status = Status(p[0])
	}
}

// decodeLead reads the first octet: flags or status, maybe with a state in it.
func (l *Layout) decodeLead(point *Point, lead uint8) {
	mask := uint8(0xFF)
	switch l.value {
	case stateBit:
		point.Value = Bool(lead&0x80 != 0)
		mask = 0x7F
	case statePair:
		point.Value = Double(DoubleBit(lead >> 6))
		mask = 0x3F
	default:
	}
	if l.has(statusOf) {
		point.Status = Status(lead & mask)
		return
	}
	point.Flags = Flags(lead & mask)
}

// read decodes a value outside the flags.
func (e encoding) read(p []byte) Value {
	switch e {
	case u8:
		return Unsigned(uint64(p[0]))
	case u16:
		return Unsigned(uint64(binary.LittleEndian.Uint16(p)))
	case u32:
		return Unsigned(uint64(binary.LittleEndian.Uint32(p)))
	case i16:
		return Signed(int64(int16(binary.LittleEndian.Uint16(p))))
	case i32:
		return Signed(int64(int32(binary.LittleEndian.Uint32(p))))
	case f32:
		return Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(p))))
	case f64:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(p)))
	default:
		return Value{}
	}
}
