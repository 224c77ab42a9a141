package app

import (
	"encoding/binary"
	"iter"

	"voltbus/protocol/dnp3/object"
)

// Points yields the points of the header: the objects of all groups but those of
// attributes, control blocks (g12v1–2), times, files, strings and terminals, for
// which it yields nothing, as it does for a header without values.
func (h Header) Points() iter.Seq[object.Point] {
	return func(yield func(object.Point) bool) {
		switch {
		case !h.values || h.layout == nil:
		case h.layout.Form() == object.FormPacked:
			h.eachBit(yield)
		case h.layout.Form() == object.FormPoint:
			h.eachPoint(yield)
		}
	}
}

func (h *Header) eachPoint(yield func(object.Point) bool) {
	prefix := h.Qualifier.prefix()
	size := h.layout.Size()
	rest := h.data
	if prefix == 2 {
		h.eachIndexed(yield)
		return
	}
	for i := range h.Count {
		var p object.Point
		h.layout.Decode(&p, rest[prefix:prefix+size], h.common)
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

// eachIndexed is eachPoint for indexes of two octets, the common case.
func (h *Header) eachIndexed(yield func(object.Point) bool) {
	size := h.layout.Size()
	rest := h.data
	for range h.Count {
		var p object.Point
		p.Index = uint32(binary.LittleEndian.Uint16(rest))
		h.layout.Decode(&p, rest[2:], h.common)
		if !yield(p) {
			return
		}
		rest = rest[2+size:]
	}
}

func (h *Header) eachBit(yield func(object.Point) bool) {
	width := uint64(h.layout.Bits())
	for i := range h.Count {
		at := i * width
		bits := h.data[at/8] >> (at % 8)
		p := object.Point{Index: h.Start + uint32(i), Flags: object.FlagOnline, Value: object.Bool(bits&1 != 0)}
		if width == 2 {
			p.Value = object.Double(object.DoubleBit(bits & 3))
		}
		if !yield(p) {
			return
		}
	}
}
