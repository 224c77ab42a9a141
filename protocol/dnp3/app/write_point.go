package app

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Indexed appends a point with its index before it, as events and analog commands
// (g41) are sent. Any variation of points but the packed ones will do.
//
// Counters keep their low 16 or 32 bits. Other values that do not fit are limited
// and get FlagOverRange; where there are no flags they are limited in events and
// refused with [ErrValue] elsewhere, above all in commands and dead-bands. See also [ErrFull], [ErrVariation], [ErrTime].
func (w *Writer) Indexed(v Variation, p Point) error {
	l, err := known(v)
	if err != nil {
		return err
	}
	if !l.point() {
		return fmt.Errorf("write %v with an index: %w", v, ErrVariation)
	}
	object, err := w.fit(v, l, p)
	if err != nil {
		return err
	}
	if err := w.prefixed(v, p.Index, int(l.size)); err != nil {
		return err
	}
	w.buf = l.append(w.buf, object)
	return nil
}

// Static appends a point in a range of indexes, as current values are sent.
// Points with ascending indexes share a header. The rules for values are those of
// [Writer.Indexed]; packed variations drop the flags.
func (w *Writer) Static(v Variation, p Point) error {
	l, err := known(v)
	if err != nil {
		return err
	}
	if l.packed() > 0 {
		return w.packed(v, l, p)
	}
	if !l.point() {
		return fmt.Errorf("write %v in a range: %w", v, ErrVariation)
	}
	object, err := w.fit(v, l, p)
	if err != nil {
		return err
	}
	if _, err := w.ranged(v, p.Index, int(l.size)*8); err != nil {
		return err
	}
	w.buf = l.append(w.buf, object)
	return nil
}

func (w *Writer) packed(v Variation, l *layout, p Point) error {
	width := uint32(l.packed())
	position, err := w.ranged(v, p.Index, int(width))
	if err != nil {
		return err
	}
	shift := position * width % 8
	if shift == 0 {
		w.buf = append(w.buf, 0)
	}
	bits := byte(0)
	switch {
	case width == 2:
		bits = byte(p.Value.DoubleBit())
	case p.Value.Bool():
		bits = 1
	}
	w.buf[len(w.buf)-1] |= bits << shift
	return nil
}

// image is a point ready to be written: every part fits its field.
type image struct {
	lead  byte   // flags or status, with a state
	value uint64 // bits of the value
	last  uint64 // time or status
}

// fit converts a point for a layout or says why it cannot be.
func (w *Writer) fit(v Variation, l *layout, p Point) (image, error) {
	bits, over := l.bits(p.Value)
	if over && !l.has(flagged) && !l.has(isEvent) {
		return image{}, fmt.Errorf("write %v index %d value %v: %w", v, p.Index, p.Value, ErrValue)
	}
	if over {
		p.Flags |= FlagOverRange
	}
	object := image{lead: l.lead(p), value: bits, last: p.Time.Milliseconds}
	switch {
	case l.has(timed) && p.Time.Milliseconds > MaxMilliseconds:
		return image{}, fmt.Errorf("write %v index %d time %d ms: %w", v, p.Index, p.Time.Milliseconds, ErrValue)
	case l.has(statusAt):
		object.last = uint64(p.Status)
	case l.has(offset):
		delay, ok := w.common.offset(p.Time)
		if !ok {
			return image{}, ErrTime
		}
		object.last = uint64(delay)
	}
	return object, nil
}

// lead returns the first octet of an object: flags or status, with a state.
func (l *layout) lead(p Point) byte {
	lead := byte(p.Flags)
	if l.has(statusOf) {
		lead = byte(p.Status)
	}
	switch l.value {
	case stateBit:
		lead &= 0x7F
		if p.Value.Bool() {
			lead |= 0x80
		}
	case statePair:
		lead = lead&0x3F | byte(p.Value.DoubleBit())<<6
	default:
	}
	return lead
}

// bits converts a value to what is written and reports whether it had to be limited.
func (l *layout) bits(v Value) (bits uint64, over bool) {
	switch l.value {
	case u8, u16, u32:
		if l.kind == KindCounter || l.kind == KindFrozenCounter {
			return v.Uint(), false
		}
		top := uint64(1)<<(8*sizeTable[l.value]) - 1
		n := v.Uint()
		return min(n, top), n > top || v.Float() < 0 || math.IsNaN(v.Float())
	case i16:
		return limit(v, math.MinInt16, math.MaxInt16)
	case i32:
		return limit(v, math.MinInt32, math.MaxInt32)
	case f32:
		return single(v.Float())
	case f64:
		return math.Float64bits(v.Float()), false
	default:
		return 0, false
	}
}

func limit(v Value, low, high int64) (bits uint64, over bool) {
	n := v.Int()
	over = n < low || n > high || math.IsNaN(v.Float())
	return uint64(min(max(n, low), high)), over
}

// single converts to single precision; a finite number stays finite.
func single(x float64) (bits uint64, over bool) {
	y := float32(x)
	if math.IsInf(float64(y), 0) && !math.IsInf(x, 0) {
		y = float32(math.Copysign(math.MaxFloat32, x))
		over = true
	}
	return uint64(math.Float32bits(y)), over
}

// append writes a converted point.
func (l *layout) append(dst []byte, object image) []byte {
	if l.has(flagged | statusOf) {
		dst = append(dst, object.lead)
	}
	switch sizeTable[l.value] {
	case 1:
		dst = append(dst, byte(object.value))
	case 2:
		dst = binary.LittleEndian.AppendUint16(dst, uint16(object.value))
	case 4:
		dst = binary.LittleEndian.AppendUint32(dst, uint32(object.value))
	case 8:
		dst = binary.LittleEndian.AppendUint64(dst, object.value)
	}
	switch {
	case l.has(timed):
		dst = appendTime(dst, Timestamp{Milliseconds: object.last})
	case l.has(offset):
		dst = binary.LittleEndian.AppendUint16(dst, uint16(object.last))
	case l.has(statusAt):
		dst = append(dst, byte(object.last))
	}
	return dst
}
