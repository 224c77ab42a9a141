package app

import (
	"encoding/binary"
	"fmt"
	"math"

	"voltbus/protocol/dnp3/object"
)

// headers appends object headers to a fragment and joins neighbors under one of them.
type headers struct {
	buf    []byte
	run    run
	narrow bool
}

// run is the object header that the next object may still join.
type run struct {
	variation object.Variation
	qualifier Qualifier
	field     int // offset of the count or of the stop index
	count     uint32
	next      uint32 // index that continues a range
}

// room reports whether n more octets fit.
func (h *headers) room(n int) bool { return n <= cap(h.buf)-len(h.buf) }

// closeRun makes the next object start a new header.
func (h *headers) closeRun() { h.run = run{} }

func (h *headers) putHeader(v object.Variation, q Qualifier) {
	h.buf = append(h.buf, v.Group(), v.Number(), byte(q))
}

// known refuses variations that the table does not have.
func known(v object.Variation) error {
	if v.Known() {
		return nil
	}
	return fmt.Errorf("write %v: %w", v, ErrVariation)
}

// prefixed makes room for an object of size octets behind an index: it joins the
// open run or starts a header, and appends the index.
func (h *headers) prefixed(v object.Variation, index uint32, size int) error {
	if index <= math.MaxUint16 && !h.narrow {
		return h.indexed(v, uint16(index), size)
	}
	q := h.indexQualifier(index)
	width := q.prefix()
	limit := uint32(1)<<(8*width) - 1
	if width == 4 {
		limit = 1<<32 - 1
	}
	if h.run.variation == v && h.run.qualifier == q && h.run.count < limit && h.run.field > 0 {
		if !h.room(width + size) {
			return ErrFull
		}
	} else {
		if !h.room(headerBase + 2*width + size) {
			return ErrFull
		}
		h.putHeader(v, q)
		h.run = run{variation: v, qualifier: q, field: len(h.buf)}
		h.buf = appendUint(h.buf, 0, width)
	}
	h.run.count++
	putUint(h.buf[h.run.field:h.run.field+width], h.run.count)
	h.buf = appendUint(h.buf, index, width)
	return nil
}

// indexed is prefixed for an index of two octets, the common case.
func (h *headers) indexed(v object.Variation, index uint16, size int) error {
	r := &h.run
	if r.variation == v && r.qualifier == Index16 && r.count < math.MaxUint16 && r.field > 0 {
		if !h.room(2 + size) {
			return ErrFull
		}
	} else {
		if !h.room(headerBase + 4 + size) {
			return ErrFull
		}
		*r = run{variation: v, qualifier: Index16, field: len(h.buf) + headerBase}
		h.buf = append(h.buf, v.Group(), v.Number(), byte(Index16), 0, 0)
	}
	r.count++
	binary.LittleEndian.PutUint16(h.buf[r.field:], uint16(r.count))
	h.buf = binary.LittleEndian.AppendUint16(h.buf, index)
	return nil
}

func (h *headers) indexQualifier(index uint32) Qualifier {
	switch {
	case index > 0xFFFF:
		return Index32
	case h.narrow && index <= 0xFF:
		return Index8
	default:
		return Index16
	}
}

// ranged makes room for the object with this index in a range: it joins the open
// run when the index continues it, or starts a header. bits is the size of the
// object. It returns the position of the object in its run.
func (h *headers) ranged(v object.Variation, index uint32, bits int) (uint32, error) {
	q := rangeQualifier(index)
	width := q.width()
	if h.run.variation == v && h.run.qualifier == q && h.run.next == index && h.run.count > 0 {
		if !h.room(grown(h.run.count, bits)) {
			return 0, ErrFull
		}
	} else {
		if !h.room(headerBase + 2*width + grown(0, bits)) {
			return 0, ErrFull
		}
		h.putHeader(v, q)
		h.buf = appendUint(h.buf, index, width)
		h.run = run{variation: v, qualifier: q, field: len(h.buf)}
		h.buf = appendUint(h.buf, index, width)
	}
	position := h.run.count
	h.run.count++
	h.run.next = index + 1
	putUint(h.buf[h.run.field:h.run.field+width], index)
	return position, nil
}

// grown returns how many octets the n-th object of a run adds.
func grown(n uint32, bits int) int {
	if bits >= 8 {
		return bits / 8
	}
	if int(n)*bits%8 == 0 {
		return 1
	}
	return 0
}

func rangeQualifier(index uint32) Qualifier {
	switch {
	case index <= 0xFF:
		return Range8
	case index <= 0xFFFF:
		return Range16
	default:
		return Range32
	}
}

// bare appends a header and its range fields.
func (h *headers) bare(v object.Variation, q Qualifier, fields ...uint32) error {
	if err := known(v); err != nil {
		return err
	}
	if !h.room(headerBase + len(fields)*q.width()) {
		return ErrFull
	}
	h.closeRun()
	h.putHeader(v, q)
	for _, field := range fields {
		h.buf = appendUint(h.buf, field, q.width())
	}
	return nil
}

// counted makes room for a single object of size octets behind a count of one.
func (h *headers) counted(v object.Variation, size int) error {
	if !h.room(headerBase + 1 + size) {
		return ErrFull
	}
	h.closeRun()
	h.putHeader(v, Count8)
	h.buf = append(h.buf, 1)
	return nil
}

// restore makes the fragment what it was, with size octets and the open run.
func (h *headers) restore(size int, r run) {
	h.buf, h.run = h.buf[:size], r
	if r.field == 0 {
		return
	}
	if q := r.qualifier; q.Prefixed() {
		putUint(h.buf[r.field:r.field+q.prefix()], r.count)
	} else {
		putUint(h.buf[r.field:r.field+q.width()], r.next-1)
	}
}

// packed appends a point of one or two bits in a range.
func (h *headers) packed(v object.Variation, width int, p object.Point) error {
	position, err := h.ranged(v, p.Index, width)
	if err != nil {
		return err
	}
	shift := position * uint32(width) % 8
	if shift == 0 {
		h.buf = append(h.buf, 0)
	}
	bits := byte(0)
	switch {
	case width == 2:
		bits = byte(p.Value.DoubleBit())
	case p.Value.Bool():
		bits = 1
	}
	h.buf[len(h.buf)-1] |= bits << shift
	return nil
}
