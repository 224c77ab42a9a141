package object

import (
	"math"
	"strconv"
)

// ValueKind says in which form a value is held.
type ValueKind uint8

// Forms of a value.
const (
	// NoValue is the form of the zero Value.
	NoValue ValueKind = iota
	// BoolValue is a state, on or off.
	BoolValue
	// DoubleBitValue is a [DoubleBit].
	DoubleBitValue
	// UnsignedValue is a counter or another unsigned integer.
	UnsignedValue
	// SignedValue is a signed integer.
	SignedValue
	// FloatValue is a floating-point number.
	FloatValue
)

// DoubleBit is the state of a double-bit binary input (Annex A, g3).
type DoubleBit uint8

// States of a double-bit binary input.
const (
	// Intermediate: moving between the two ends.
	Intermediate DoubleBit = 0
	// DeterminedOff: off, or open.
	DeterminedOff DoubleBit = 1
	// DeterminedOn: on, or closed.
	DeterminedOn DoubleBit = 2
	// Indeterminate: the two contacts contradict each other.
	Indeterminate DoubleBit = 3
)

// String returns the state in words.
func (d DoubleBit) String() string {
	return [4]string{"intermediate", "off", "on", "indeterminate"}[d&3]
}

// Value is the value of a point: a state, an integer or a number. The zero value
// holds nothing. Values compare with ==.
type Value struct {
	bits uint64
	kind ValueKind
}

// Bool returns a state.
func Bool(on bool) Value {
	if on {
		return Value{1, BoolValue}
	}
	return Value{0, BoolValue}
}

// Double returns a double-bit state.
func Double(state DoubleBit) Value { return Value{uint64(state & 3), DoubleBitValue} }

// Unsigned returns an unsigned integer.
func Unsigned(n uint64) Value { return Value{n, UnsignedValue} }

// Signed returns a signed integer.
func Signed(n int64) Value { return Value{uint64(n), SignedValue} }

// Float returns a floating-point number.
func Float(x float64) Value { return Value{math.Float64bits(x), FloatValue} }

// ValueOf returns the value of a form that [Value.Bits] gave.
func ValueOf(k ValueKind, bits uint64) Value { return Value{bits, k} }

// Kind returns the form of the value.
func (v Value) Kind() ValueKind { return v.kind }

// Bits returns the value in 64 bits, to be kept with its form.
func (v Value) Bits() uint64 { return v.bits }

// Bool reports whether a state is on, a double-bit state determined on, a number
// not zero.
func (v Value) Bool() bool {
	switch v.kind {
	case DoubleBitValue:
		return DoubleBit(v.bits) == DeterminedOn
	case FloatValue:
		return v.Float() != 0
	default:
		return v.bits != 0
	}
}

// DoubleBit returns a double-bit state; any other form is on or off by Bool.
func (v Value) DoubleBit() DoubleBit {
	switch {
	case v.kind == DoubleBitValue:
		return DoubleBit(v.bits)
	case v.Bool():
		return DeterminedOn
	default:
		return DeterminedOff
	}
}

// Float returns the value as a number; states are 0 and 1, double-bit states 0–3.
func (v Value) Float() float64 {
	switch v.kind {
	case FloatValue:
		return math.Float64frombits(v.bits)
	case SignedValue:
		return float64(int64(v.bits))
	default:
		return float64(v.bits)
	}
}

// Int returns the value as an integer: rounded to the nearest, halves away from
// zero, and limited to what an int64 holds. Not a number gives 0.
func (v Value) Int() int64 {
	switch v.kind {
	case FloatValue:
		return roundToInt(math.Float64frombits(v.bits))
	case SignedValue:
		return int64(v.bits)
	default:
		return int64(min(v.bits, math.MaxInt64))
	}
}

// Uint returns the value as an unsigned integer, 0 for anything negative.
func (v Value) Uint() uint64 {
	switch v.kind {
	case FloatValue, SignedValue:
		return uint64(max(v.Int(), 0))
	default:
		return v.bits
	}
}

// String returns the value as text.
func (v Value) String() string {
	switch v.kind {
	case NoValue:
		return "none"
	case BoolValue:
		return strconv.FormatBool(v.Bool())
	case DoubleBitValue:
		return v.DoubleBit().String()
	case FloatValue:
		return strconv.FormatFloat(v.Float(), 'g', -1, 64)
	case SignedValue:
		return strconv.FormatInt(v.Int(), 10)
	default:
		return strconv.FormatUint(v.bits, 10)
	}
}

func roundToInt(x float64) int64 {
	x = math.Round(x)
	switch {
	case math.IsNaN(x):
		return 0
	case x >= math.MaxInt64:
		return math.MaxInt64
	case x <= math.MinInt64:
		return math.MinInt64
	default:
		return int64(x)
	}
}
