package modbus

import (
	"fmt"
	"math"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// decode returns the register's value. It returns false if there is none: for NaN, the registry's
// "missing", an unsigned number beyond
// 63 bits without a scale, a scaling by zero. The words are those of the layout; other is the value of the
// transform's other register.
func (r *register) decode(words []uint16, other float64) (point.Value, bool) {
	l := r.layout
	if l.Form == layout.Text {
		text, ok := l.Text(words)
		if !ok {
			return point.Value{}, false
		}
		return point.TextOf(text), true
	}
	raw := l.Join(words)
	if r.missing != nil && raw == *r.missing {
		return point.Value{}, false
	}
	v, ok := r.change.apply(l, raw, other)
	switch {
	case !ok:
		return point.Value{}, false
	case len(r.states.names) > 0:
		return r.states.name(v)
	}
	return v, true
}

// encode returns the words that represent v. For a bit field, current are the words now in the device;
// otherwise they are ignored. The error says what to write instead.
func (r *register) encode(v point.Value, current []uint16, other float64) ([]uint16, error) {
	l := r.layout
	if l.Form == layout.Text {
		return l.EncodeText(v)
	}
	wished := v
	var err error
	if len(r.states.names) > 0 {
		v, err = r.states.number(v)
	} else {
		v, err = r.change.undo(v, other)
	}
	if err != nil {
		return nil, err
	}
	if f, isNumber := v.Number(); isNumber && v.Kind() == point.Float && r.change.op != asIs && l.Form != layout.Float {
		v = point.FloatOf(math.Round(f)) // to the nearest that the register can hold
	}
	raw, err := l.Raw(v)
	if err != nil {
		return nil, r.inUnit(err, wished, other)
	}
	return l.Insert(raw, current), nil
}

// inUnit describes the limits of a scaled register in the point's unit.
func (r *register) inUnit(err error, wished point.Value, other float64) error {
	if r.change.op == asIs || r.layout.Form == layout.Float {
		return err
	}
	low, high := r.layout.Limits()
	mask := uint64(math.MaxUint64) >> (64 - r.layout.BitCount())
	from, ok1 := r.change.apply(r.layout, uint64(low)&mask, other)
	to, ok2 := r.change.apply(r.layout, uint64(high)&mask, other)
	if !ok1 || !ok2 || r.change.op == decimalSigned {
		return err
	}
	if a, _ := from.Number(); a > number(to) {
		from, to = to, from
	}
	return fmt.Errorf("does not fit: %v; write a number from %v to %v", wished, from, to)
}

func number(v point.Value) float64 {
	f, _ := v.Number()
	return f
}
