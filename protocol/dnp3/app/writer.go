package app

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"voltbus/protocol/dnp3/object"
)

// Errors of [Writer], beside those of package object. After any error the fragment is
// as it was before the call.
var (
	// ErrFull says that the rest of the buffer is too small.
	ErrFull = errors.New("fragment full")
	// ErrVariation says that the variation is unknown or not written by this method.
	ErrVariation = errors.New("variation not allowed here")
)

// Writer builds one fragment in a buffer whose capacity it never exceeds. The zero
// value is of no use; NewRequest and NewResponse start one. Writer keeps points in
// the order they are written and joins neighbors under one object header where it
// can. Not for concurrent use.
type Writer struct {
	buf    []byte
	common object.Timestamp
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

// NewRequest starts a request in buf, whose capacity, at least 2 octets, bounds
// the fragment. What buf holds is overwritten.
func NewRequest(buf []byte, c Control, f Function) Writer {
	return Writer{buf: append(buf[:0], byte(c), byte(f))}
}

// NewResponse starts a response in buf, whose capacity, at least 4 octets, bounds
// the fragment. The function is FuncResponse or FuncUnsolicitedResponse.
func NewResponse(buf []byte, c Control, f Function, iin IIN) Writer {
	return Writer{buf: binary.LittleEndian.AppendUint16(append(buf[:0], byte(c), byte(f)), uint16(iin))}
}

// Bytes returns the fragment built so far, in the memory of the buffer.
func (w *Writer) Bytes() []byte { return w.buf }

// Narrow makes index prefixes one octet wide where the index allows (qualifier
// 0x17), instead of two (0x28), which every outstation accepts.
func (w *Writer) Narrow() { w.narrow = true }

// SetControl replaces the control octet, for a fragment that turns out to be final
// or to need a confirmation.
func (w *Writer) SetControl(c Control) { w.buf[0] = byte(c) }

// SetIIN replaces the internal indications of a response, which may depend on what
// was written.
func (w *Writer) SetIIN(iin IIN) { binary.LittleEndian.PutUint16(w.buf[2:], uint16(iin)) }

// room reports whether n more octets fit.
func (w *Writer) room(n int) bool { return n <= cap(w.buf)-len(w.buf) }

// closeRun makes the next object start a new header.
func (w *Writer) closeRun() { w.run = run{} }

func (w *Writer) putHeader(v object.Variation, q Qualifier) {
	w.buf = append(w.buf, v.Group(), v.Number(), byte(q))
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
func (w *Writer) prefixed(v object.Variation, index uint32, size int) error {
	if index <= math.MaxUint16 && !w.narrow {
		return w.indexed(v, uint16(index), size)
	}
	q := w.indexQualifier(index)
	width := q.prefix()
	limit := uint32(1)<<(8*width) - 1
	if width == 4 {
		limit = 1<<32 - 1
	}
	if w.run.variation == v && w.run.qualifier == q && w.run.count < limit && w.run.field > 0 {
		if !w.room(width + size) {
			return ErrFull
		}
	} else {
		if !w.room(headerBase + 2*width + size) {
			return ErrFull
		}
		w.putHeader(v, q)
		w.run = run{variation: v, qualifier: q, field: len(w.buf)}
		w.buf = appendUint(w.buf, 0, width)
	}
	w.run.count++
	putUint(w.buf[w.run.field:w.run.field+width], w.run.count)
	w.buf = appendUint(w.buf, index, width)
	return nil
}

// indexed is prefixed for an index of two octets, the common case.
func (w *Writer) indexed(v object.Variation, index uint16, size int) error {
	r := &w.run
	if r.variation == v && r.qualifier == Index16 && r.count < math.MaxUint16 && r.field > 0 {
		if !w.room(2 + size) {
			return ErrFull
		}
	} else {
		if !w.room(headerBase + 4 + size) {
			return ErrFull
		}
		*r = run{variation: v, qualifier: Index16, field: len(w.buf) + headerBase}
		w.buf = append(w.buf, v.Group(), v.Number(), byte(Index16), 0, 0)
	}
	r.count++
	binary.LittleEndian.PutUint16(w.buf[r.field:], uint16(r.count))
	w.buf = binary.LittleEndian.AppendUint16(w.buf, index)
	return nil
}

func (w *Writer) indexQualifier(index uint32) Qualifier {
	switch {
	case index > 0xFFFF:
		return Index32
	case w.narrow && index <= 0xFF:
		return Index8
	default:
		return Index16
	}
}

// ranged makes room for the object with this index in a range: it joins the open
// run when the index continues it, or starts a header. bits is the size of the
// object. It returns the position of the object in its run.
func (w *Writer) ranged(v object.Variation, index uint32, bits int) (uint32, error) {
	q := rangeQualifier(index)
	width := q.width()
	if w.run.variation == v && w.run.qualifier == q && w.run.next == index && w.run.count > 0 {
		if !w.room(grown(w.run.count, bits)) {
			return 0, ErrFull
		}
	} else {
		if !w.room(headerBase + 2*width + grown(0, bits)) {
			return 0, ErrFull
		}
		w.putHeader(v, q)
		w.buf = appendUint(w.buf, index, width)
		w.run = run{variation: v, qualifier: q, field: len(w.buf)}
		w.buf = appendUint(w.buf, index, width)
	}
	position := w.run.count
	w.run.count++
	w.run.next = index + 1
	putUint(w.buf[w.run.field:w.run.field+width], index)
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
