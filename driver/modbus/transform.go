package modbus

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// operation is what a transform does with a raw value.
type operation uint8

const (
	asIs          operation = iota
	linear                  // raw × factor + offset
	linearInt               // the same, truncated to a whole number
	decimalSigned           // 15 bits times factor; the sign is a bit of its own
	mod10k                  // two words of four decimal digits each
	mod10k48                // three words of four decimal digits each
	mod10k64                // four words of four decimal digits each
	perRegister             // raw ÷ another register
	powerRegister           // raw × 10^another register
)

// transform converts a register's content to the point's value.
type transform struct {
	op      operation
	factor  float64
	offset  float64
	reverse bool       // of mod10k: the words are in reverse order
	other   string     // name of the register that scales the value
	kind    point.Kind // of the result; None if the value is not converted
}

// parseTransform parses the columns scale, offset and transform, and checks them against the type.
func parseTransform(e *Entry, l layout.Layout) (transform, error) {
	if e.Transform == "" {
		return parseLinear(e, l)
	}
	if e.Scale != "" || e.Offset != "" {
		return transform{}, errors.New("stands beside scale or offset; write only one of them")
	}
	name, rest, opened := strings.Cut(strings.ReplaceAll(e.Transform, " ", ""), "(")
	arg, closed := strings.CutSuffix(rest, ")")
	if !opened || !closed {
		return transform{}, errTransform(e.Transform)
	}
	tr, err := newTransform(strings.ToLower(name), arg, e.Transform)
	if err != nil {
		return transform{}, err
	}
	return tr, tr.check(l, e)
}

func errTransform(s string) error {
	return fmt.Errorf("%q is not known; write scale(x), scale_int(x), scale_decimal_int_signed(x), mod10k(reverse), "+
		"mod10k64(reverse), mod10k48(reverse), scale_reg(name) or scale_reg_pow_10(name)", s)
}

func newTransform(name, arg, whole string) (tr transform, err error) {
	switch name {
	case "scale":
		tr = transform{op: linear, kind: point.Float}
		tr.factor, err = parseFactor(arg)
	case "scale_int":
		tr = transform{op: linearInt, kind: point.Int}
		tr.factor, err = parseFactor(arg)
	case "scale_decimal_int_signed":
		tr = transform{op: decimalSigned, kind: point.Float}
		tr.factor, err = parseFactor(arg)
	case "mod10k", "mod10k48", "mod10k64":
		tr = transform{op: map[string]operation{"mod10k": mod10k, "mod10k48": mod10k48, "mod10k64": mod10k64}[name], kind: point.Int}
		tr.reverse, err = parseBool(strings.Replace(strings.ToLower(arg), "reverse", "true", 1))
	case "scale_reg":
		tr = transform{op: perRegister, kind: point.Float, other: arg}
	case "scale_reg_pow_10":
		tr = transform{op: powerRegister, kind: point.Float, other: arg}
	default:
		err = errTransform(whole)
	}
	return tr, err
}

func parseFactor(s string) (float64, error) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f == 0 || math.IsNaN(f) || math.IsInf(f, 0) {
		return 1, fmt.Errorf("%q cannot scale; write a number other than zero", s)
	}
	return f, nil
}

// parseLinear parses the columns scale and offset.
func parseLinear(e *Entry, l layout.Layout) (transform, error) {
	if e.Scale == "" && e.Offset == "" {
		return transform{}, nil
	}
	tr := transform{op: linear, factor: 1, kind: point.Float}
	var err error
	if e.Scale != "" {
		if tr.factor, err = parseFactor(e.Scale); err != nil {
			return transform{}, err
		}
	}
	if e.Offset != "" {
		if tr.offset, err = strconv.ParseFloat(e.Offset, 64); err != nil || math.IsNaN(tr.offset) || math.IsInf(tr.offset, 0) {
			return transform{}, fmt.Errorf("%q is not an offset; write a number", e.Offset)
		}
	}
	return tr, tr.check(l, e)
}

// check reports a transform that is incompatible with the type.
func (tr transform) check(l layout.Layout, e *Entry) error {
	words := map[operation]int{mod10k: 2, mod10k48: 4, mod10k64: 4, decimalSigned: 1}[tr.op]
	writable, _ := parseBool(e.Writable)
	switch {
	case l.Kind() == point.Text || l.Kind() == point.Bool:
		return fmt.Errorf("cannot scale the type %q; remove it or write a type that is a number", e.Type)
	case words > 0 && (l.Words != words || l.Form == layout.Float || l.IsField()):
		return fmt.Errorf("%s needs a whole number of %d bits; write the type int%d", e.Transform, 16*words, 16*words)
	case writable && tr.op == mod10k48:
		return fmt.Errorf("%s can only be read, as one of its four registers is not its own; write writable: false", e.Transform)
	case tr.other == "" && (tr.op == perRegister || tr.op == powerRegister):
		return fmt.Errorf("%s needs the name of another register", e.Transform)
	}
	return nil
}

// apply returns the value of the raw bits; false if there is none.
func (tr transform) apply(l layout.Layout, raw uint64, other float64) (point.Value, bool) {
	if tr.op == asIs {
		return l.Value(raw)
	}
	f := l.Number(raw)
	switch tr.op {
	case mod10k, mod10k48, mod10k64:
		return point.IntOf(tr.digits(raw)), true
	case linear, linearInt:
		f = times(f, tr.factor) + tr.offset
	case decimalSigned:
		if f < 0 {
			f = -(f + 1<<15)
		}
		f = times(f, tr.factor)
	case perRegister:
		f /= other
	case powerRegister:
		f = timesPower(f, other)
	case asIs:
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return point.Value{}, false
	}
	if tr.kind == point.Int {
		i, ok := point.FloatOf(f).Int()
		return point.IntOf(i), ok
	}
	return point.FloatOf(f), true
}

// tenThousand is the number of values of a word of four decimal digits.
const tenThousand = 10_000

// places returns the bit shifts of the words of four decimal digits, the highest first.
func (tr transform) places() []int {
	switch {
	case tr.op == mod10k && !tr.reverse:
		return []int{16, 0}
	case tr.op == mod10k:
		return []int{0, 16}
	case tr.op == mod10k48 && !tr.reverse:
		return []int{16, 32, 48}
	case tr.op == mod10k48:
		return []int{0, 16, 32}
	case !tr.reverse:
		return []int{0, 16, 32, 48}
	}
	return []int{48, 32, 16, 0}
}

// digits combines words of four decimal digits.
func (tr transform) digits(raw uint64) (n int64) {
	for _, place := range tr.places() {
		n = n*tenThousand + int64(raw>>place&0xFFFF)
	}
	return n
}

// spread is the inverse of digits.
func (tr transform) spread(v point.Value) (point.Value, error) {
	if f, isNumber := v.Number(); isNumber && v.Kind() == point.Float {
		v = point.FloatOf(math.Round(f)) // to the nearest that the registers can hold
	}
	n, whole := v.Int()
	var raw int64
	left := n
	for _, place := range slices.Backward(tr.places()) {
		raw |= left % tenThousand << place
		left /= tenThousand
	}
	if !whole || n < 0 || left > 0 {
		return v, fmt.Errorf("does not fit: %v; write a whole number from 0 to %s", v, strings.Repeat("9999", len(tr.places())))
	}
	return point.IntOf(raw), nil
}

// times multiplies. For a factor such as 0.1, which binary cannot represent, it divides by 10 instead: the
// result is then the float64 closest to the decimal that people expect, 0.3 and not 0.30000000000000004.
func times(v, factor float64) float64 {
	if inverse := math.Round(1 / factor); inverse != 0 && 1/inverse == factor {
		return v / inverse
	}
	return v * factor
}

func timesPower(v, exponent float64) float64 {
	if exponent < 0 {
		return v / math.Pow(10, -exponent)
	}
	return v * math.Pow(10, exponent)
}

// undo returns what the register must hold for the point to have the value v.
func (tr transform) undo(v point.Value, other float64) (point.Value, error) {
	if tr.op == asIs {
		return v, nil
	}
	f, ok := v.Number()
	if !ok || math.IsNaN(f) {
		return v, layout.ErrNotNumber
	}
	switch tr.op {
	case linear, linearInt:
		f = (f - tr.offset) / tr.factor
	case decimalSigned:
		f /= tr.factor
		if f < 0 {
			f = -f - 1<<15
		}
	case perRegister:
		f *= other
	case powerRegister:
		f = timesPower(f, -other)
	case mod10k, mod10k64:
		return tr.spread(v)
	case mod10k48:
		return v, errors.New("can only be read")
	case asIs:
	}
	return point.FloatOf(f), nil
}

// parseValue parses a value of a kind.
func parseValue(s string, kind point.Kind) (point.Value, error) {
	switch kind {
	case point.Bool:
		b, err := parseBool(s)
		return point.BoolOf(b), err
	case point.Int:
		i, err := strconv.ParseInt(s, 0, 64)
		if errors.Is(err, strconv.ErrRange) {
			return point.Value{}, fmt.Errorf("%s does not fit: a point holds whole numbers from %d to %d; write the registers one by one as uint16", s, math.MinInt64, math.MaxInt64)
		}
		if err != nil {
			return point.Value{}, fmt.Errorf("%q is not a whole number", s)
		}
		return point.IntOf(i), nil
	case point.Float:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			return point.Value{}, fmt.Errorf("%q is not a number", s)
		}
		return point.FloatOf(f), nil
	case point.Text, point.None:
	}
	return point.TextOf(s), nil
}
