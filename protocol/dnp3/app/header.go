package app

import (
	"iter"

	"voltbus/protocol/dnp3/object"
)

// Header is an object header with the octets of its objects.
type Header struct {
	Variation object.Variation
	Qualifier Qualifier
	values    bool
	// Start and Stop are the first and last index when Qualifier is a range.
	Start, Stop uint32
	octet       int32
	// Count is the number of objects the header names, 1–2^32; 0 for all objects.
	// Only as many exist as there are octets for: never allocate by it.
	Count uint64

	data   []byte
	layout *object.Layout
	common object.Timestamp
}

// Octet returns the offset of the header in its fragment.
func (h Header) Octet() int { return int(h.octet) }

// HasValues reports whether values follow the header. In a read request, for
// instance, the header alone names what is wanted.
func (h Header) HasValues() bool { return h.values }

// Data returns the octets behind the header: prefixes and objects.
func (h Header) Data() []byte { return h.data }

// Objects yields the objects as octets: those with values, and the indexes listed
// by a request. It yields nothing for packed bits, which [Header.Points] reads, and
// nothing for a range or a count without values.
func (h Header) Objects() iter.Seq[object.Raw] {
	return func(yield func(object.Raw) bool) {
		if h.layout == nil || h.layout.Form() == object.FormPacked || !h.values && !h.Qualifier.Prefixed() {
			return
		}
		rest := h.data
		for i := range h.Count {
			var o object.Raw
			if o, rest = h.cut(rest, i); !yield(o) {
				return
			}
		}
	}
}

// cut takes the i-th object off rest, whose length the reader has checked.
func (h *Header) cut(rest []byte, i uint64) (object.Raw, []byte) {
	o := object.Raw{Variation: h.Variation, Index: h.Start + uint32(i)}
	prefix := h.Qualifier.prefix()
	lead := readUint(rest[:prefix])
	rest = rest[prefix:]
	size := h.layout.Size()
	switch {
	case h.Qualifier.code() == rangeFree:
		size = int(lead)
	case prefix > 0:
		o.Index = lead
	}
	if !h.values {
		return o, rest
	}
	if h.layout.Form() == object.FormTyped {
		size = object.AttributeSize(rest)
	}
	o.Data = rest[:size:size]
	return o, rest[size:]
}
