package app

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"voltbus/protocol/dnp3/object"
)

// All appends a header for all objects of v (qualifier 0x06), as in a read of a
// class or a freeze of all counters.
func (w *Writer) All(v object.Variation) error { return w.bare(v, AllObjects) }

// Range appends a header for the objects start to stop, without values.
func (w *Writer) Range(v object.Variation, start, stop uint32) error {
	if stop < start {
		return fmt.Errorf("write %v range %d–%d: %w", v, start, stop, object.ErrValue)
	}
	return w.bare(v, rangeQualifier(stop), start, stop)
}

// Limit appends a header for at most n objects of v, without values, as in a read
// of n events.
func (w *Writer) Limit(v object.Variation, n uint32) error {
	q := rangeQualifier(n) + Count8
	return w.bare(v, q, n)
}

// Index appends one index to a list of objects without values, as in a read of
// single points. Neighbors share a header.
func (w *Writer) Index(v object.Variation, index uint32) error {
	if err := known(v); err != nil {
		return err
	}
	return w.prefixed(v, index, 0)
}

// CROB appends a control relay output block (g12v1) with its index. Neighbors
// share a header.
func (w *Writer) CROB(index uint32, c object.CROB) error {
	if err := w.prefixed(object.G12V1, index, object.CROBSize); err != nil {
		return err
	}
	w.buf = c.Append(w.buf)
	return nil
}

// Pattern appends a pattern control block (g12v2); the pattern masks that follow
// are points of g12v3, appended with [Writer.Static].
func (w *Writer) Pattern(c object.CROB) error {
	if err := w.counted(object.G12V2, object.CROBSize); err != nil {
		return err
	}
	w.buf = c.Append(w.buf)
	return nil
}

// Time appends a time object: g50v1 to set the clock, g50v3 to set it to the time
// recorded on a LAN, g51v1 or g51v2 as the base of the relative times that follow
// in this fragment.
func (w *Writer) Time(v object.Variation, t object.Timestamp) error {
	if v.Size() != object.TimeSize || v.Kind() != object.KindTime && v.Kind() != object.KindCommonTime {
		return fmt.Errorf("write %v as a time: %w", v, ErrVariation)
	}
	if t.Milliseconds > object.MaxMilliseconds {
		return fmt.Errorf("write %v time %d ms: %w", v, t.Milliseconds, object.ErrValue)
	}
	if err := w.counted(v, object.TimeSize); err != nil {
		return err
	}
	w.buf = object.AppendTime(w.buf, t)
	switch v {
	case object.G51V1:
		w.common = object.Timestamp{Milliseconds: t.Milliseconds, Quality: object.TimeAbsolute}
	case object.G51V2:
		w.common = object.Timestamp{Milliseconds: t.Milliseconds, Quality: object.TimeUnsynchronized}
	default:
	}
	return nil
}

// TimeInterval appends a freeze time (g50v2): once at start when interval is 0,
// else from start on every interval, 0 to 2^32-1 ms in whole milliseconds.
func (w *Writer) TimeInterval(start object.Timestamp, interval time.Duration) error {
	if start.Milliseconds > object.MaxMilliseconds || interval < 0 || interval.Milliseconds() > math.MaxUint32 {
		return fmt.Errorf("write %v time %d ms interval %v: %w", object.G50V2, start.Milliseconds, interval, object.ErrValue)
	}
	if err := w.counted(object.G50V2, object.TimeSize+4); err != nil {
		return err
	}
	w.buf = binary.LittleEndian.AppendUint32(object.AppendTime(w.buf, start), object.Milliseconds(interval))
	return nil
}

// IndexedTime appends a repeating time (g50v4) behind its index, as a master writes it.
func (w *Writer) IndexedTime(index uint32, t object.IndexedTime) error {
	if err := checkStart(index, t); err != nil {
		return err
	}
	if err := w.prefixed(object.G50V4, index, object.TimeSize+5); err != nil {
		return err
	}
	w.buf = appendRepeating(w.buf, t)
	return nil
}

// StaticTime appends a repeating time (g50v4) in a range of indexes, as an outstation answers
// a read. Times with ascending indexes share a header.
func (w *Writer) StaticTime(index uint32, t object.IndexedTime) error {
	if err := checkStart(index, t); err != nil {
		return err
	}
	if _, err := w.ranged(object.G50V4, index, (object.TimeSize+5)*8); err != nil {
		return err
	}
	w.buf = appendRepeating(w.buf, t)
	return nil
}

func checkStart(index uint32, t object.IndexedTime) error {
	if t.Start.Milliseconds > object.MaxMilliseconds {
		return fmt.Errorf("write %v index %d time %d ms: %w", object.G50V4, index, t.Start.Milliseconds, object.ErrValue)
	}
	return nil
}

func appendRepeating(dst []byte, t object.IndexedTime) []byte {
	return append(binary.LittleEndian.AppendUint32(object.AppendTime(dst, t.Start), t.Interval), byte(t.Unit))
}

// Delay appends a delay of 0–65535 whole milliseconds (g52v2) or seconds (g52v1).
func (w *Writer) Delay(v object.Variation, d time.Duration) error {
	unit := time.Millisecond
	if v == object.G52V1 {
		unit = time.Second
	}
	if v.Kind() != object.KindDelay || v.Size() == 0 {
		return fmt.Errorf("write %v as a delay: %w", v, ErrVariation)
	}
	if d < 0 || d/unit > math.MaxUint16 {
		return fmt.Errorf("write %v of %v: %w", v, d, object.ErrValue)
	}
	if err := w.counted(v, 2); err != nil {
		return err
	}
	w.buf = binary.LittleEndian.AppendUint16(w.buf, uint16(d/unit))
	return nil
}

// String appends an octet string of 0–255 octets in a range: group is 110 for a
// current value or 112 for terminal output. An empty string is written as
// variation 0, which not every master accepts.
func (w *Writer) String(group uint8, index uint32, text []byte) error {
	v, err := stringVariation(group, text)
	if err != nil {
		return err
	}
	if len(text) == 0 {
		return w.bare(v, rangeQualifier(index), index, index)
	}
	if _, err := w.ranged(v, index, len(text)*8); err != nil {
		return err
	}
	w.buf = append(w.buf, text...)
	return nil
}

// StringEvent appends an octet string of 0–255 octets behind its index: group is
// 111 for an event or 113 for terminal input.
func (w *Writer) StringEvent(group uint8, index uint32, text []byte) error {
	v, err := stringVariation(group, text)
	if err != nil {
		return err
	}
	if err := w.prefixed(v, index, len(text)); err != nil {
		return err
	}
	w.buf = append(w.buf, text...)
	return nil
}

func stringVariation(group uint8, text []byte) (object.Variation, error) {
	if kind := object.Of(group, 1).Kind(); kind != object.KindOctetString && kind != object.KindTerminal {
		return 0, fmt.Errorf("write string to group %d: %w", group, ErrVariation)
	}
	if len(text) > math.MaxUint8 {
		return 0, fmt.Errorf("write string of %d octets: %w", len(text), object.ErrValue)
	}
	return object.Of(group, uint8(len(text))), nil
}

// Attribute appends a device attribute (g0) with its number, 0–253 or 255 for the
// list, of a set of attributes. It returns [object.ErrValue] when the data are too long.
func (w *Writer) Attribute(set uint32, number uint8, a object.Attribute) error {
	size, err := a.Size()
	if err != nil {
		return err
	}
	w.closeRun()
	if _, err := w.ranged(object.Of(0, number), set, size*8); err != nil {
		return err
	}
	w.closeRun()
	w.buf = a.Append(w.buf)
	return nil
}

// FreeObject is an object that is sent in free format, such as those of package file.
type FreeObject interface {
	// Variation returns the form of the object.
	Variation() object.Variation
	// EncodedSize returns the octets that Append appends.
	EncodedSize() int
	// Append appends the object's octets.
	Append(dst []byte) []byte
}

// Free appends an object in free format (qualifier 0x5B). It returns [ErrFull] when
// the object does not fit and [object.ErrValue] when it has more than 65535 octets.
func (w *Writer) Free(o FreeObject) error {
	size := o.EncodedSize()
	if size > math.MaxUint16 {
		return fmt.Errorf("write %v of %d octets: %w", o.Variation(), size, object.ErrValue)
	}
	if !w.room(headerBase + 1 + 2 + size) {
		return ErrFull
	}
	w.closeRun()
	w.putHeader(o.Variation(), FreeFormat)
	w.buf = binary.LittleEndian.AppendUint16(append(w.buf, 1), uint16(size))
	w.buf = o.Append(w.buf)
	return nil
}
