package app

import (
	"fmt"

	"voltbus/protocol/dnp3/object"
)

// Indexed appends a point with its index before it, as events and analog commands
// (g41) are sent. Any variation of points but the packed ones will do. What becomes
// of values that do not fit says [object.Layout.Append]; errors are its and
// [ErrFull], [ErrVariation].
func (w *Writer) Indexed(v object.Variation, p object.Point) error { return w.Point(v, &p) }

// Point is [Writer.Indexed] without a copy of the point, for long lists.
func (w *Writer) Point(v object.Variation, p *object.Point) error {
	l := v.Layout()
	if l == nil || l.Form() != object.FormPoint {
		return fmt.Errorf("write %v with an index: %w", v, ErrVariation)
	}
	size, run := len(w.buf), w.run
	if err := w.prefixed(v, p.Index, l.Size()); err != nil {
		return err
	}
	return w.point(l, v, p, size, run)
}

// point appends a point whose header and index are written. If it cannot be expressed,
// the fragment becomes what it was, with size octets and the open run.
func (w *Writer) point(l *object.Layout, v object.Variation, p *object.Point, size int, run run) error {
	octets, err := l.Append(w.buf, p, w.common)
	if err == nil {
		w.buf = octets
		return nil
	}
	w.restore(size, run)
	return fmt.Errorf("write %v: %w", v, err)
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
	size, run := len(w.buf), w.run
	if _, err := w.ranged(v, p.Index, l.Size()*8); err != nil {
		return err
	}
	return w.point(l, v, &p, size, run)
}
