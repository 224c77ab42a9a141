package app

import (
	"encoding/binary"
	"iter"
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

// Points yields the points of the header: the objects of all groups but those of
// attributes, control blocks (g12v1–2), times, files, strings and terminals, for
// which it yields nothing, as it does for a header without values.
func (h Header) Points() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		switch {
		case !h.values || h.layout == nil:
		case h.layout.packed() > 0:
			h.eachBit(yield)
		case h.layout.point():
			h.eachPoint(yield)
		}
	}
}

func (h *Header) eachPoint(yield func(Point) bool) {
	prefix := h.Qualifier.prefix()
	size := int(h.layout.size)
	rest := h.data
	for i := range h.Count {
		p := Point{Flags: FlagOnline}
		h.layout.decode(&p, rest[prefix:prefix+size], h.common)
		if prefix > 0 {
			p.Index = readUint(rest[:prefix])
		} else {
			p.Index = h.Start + uint32(i)
		}
		if !yield(p) {
			return
		}
		rest = rest[prefix+size:]
	}
}

func (h *Header) eachBit(yield func(Point) bool) {
	width := h.layout.packed()
	for i := range h.Count {
		at := i * width
		bits := h.data[at/8] >> (at % 8)
		p := Point{Index: h.Start + uint32(i), Flags: FlagOnline, Value: Bool(bits&1 != 0)}
		if width == 2 {
			p.Value = Double(DoubleBit(bits & 3))
		}
		if !yield(p) {
			return
		}
	}
}

// decode reads one object of whole octets.
func (l *layout) decode(point *Point, p []byte, common Timestamp) {
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
		point.Time = absolute(p)
	case l.has(offset):
		point.Time = common.relative(binary.LittleEndian.Uint16(p))
	case l.has(statusAt):
		point.Status = Status(p[0])
	}
}

// decodeLead reads the first octet: flags or status, maybe with a state in it.
func (l *layout) decodeLead(point *Point, lead uint8) {
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
