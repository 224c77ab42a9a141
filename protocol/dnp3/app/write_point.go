package app

import (
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// maxPoint bounds the octets of a point: flags, a double, a time.
const maxPoint = 16

// Indexed appends a point with its index before it, as events and analog commands
// (g41) are sent. Any variation of points but the packed ones will do. What becomes
// of values that do not fit says [object.Layout.Append]; errors are its and
// [ErrFull], [ErrVariation].
func (w *Writer) Indexed(v object.Variation, p object.Point) error {
	l := v.Layout()
	if l == nil || l.Form() != object.FormPoint {
		return fmt.Errorf("write %v with an index: %w", v, ErrVariation)
	}
	var room [maxPoint]byte
	octets, err := l.Append(room[:0], p, w.common)
	if err != nil {
		return fmt.Errorf("write %v: %w", v, err)
	}
	if err := w.prefixed(v, p.Index, len(octets)); err != nil {
		return err
	}
	w.buf = append(w.buf, octets...)
	return nil
}

// Static appends a point in a range of indexes, as current values are sent.
// Points with ascending indexes share a header. The rules for values are those of
// [Writer.Indexed]; packed variations drop the flags.
func (w *Writer) Static(v object.Variation, p object.Point) error {
	l := v.Layout()
	switch {
	case l != nil && l.Form() == object.FormPacked:
		return w.packed(v, l.Bits(), p)
	case l == nil || l.Form() != object.FormPoint:
		return fmt.Errorf("write %v in a range: %w", v, ErrVariation)
	}
	var room [maxPoint]byte
	octets, err := l.Append(room[:0], p, w.common)
	if err != nil {
		return fmt.Errorf("write %v: %w", v, err)
	}
	if _, err := w.ranged(v, p.Index, len(octets)*8); err != nil {
		return err
	}
	w.buf = append(w.buf, octets...)
	return nil
}

func (w *Writer) packed(v object.Variation, width int, p object.Point) error {
	position, err := w.ranged(v, p.Index, width)
	if err != nil {
		return err
	}
	shift := position * uint32(width) % 8
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
