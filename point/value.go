package point

import (
	"math"
	"strconv"
)

// Kind is the type of a value.
type Kind uint8

// The kinds of value. The numbers are part of the block format: never change them.
const (
	None  Kind = 0 // no value: the sample only states that there is none
	Float Kind = 1 // IEEE 754 double
	Int   Kind = 2 // signed 64 bit
	Bool  Kind = 3
	Text  Kind = 4 // UTF-8
)

var kindNames = [...]string{"none", "float", "int", "bool", "text"}

// String returns "none", "float", "int", "bool" or "text".
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "kind" + strconv.Itoa(int(k))
}

// ParseKind is the inverse of String; false for an unknown name.
func ParseKind(name string) (Kind, bool) {
	for i, n := range kindNames {
		if n == name {
			return Kind(i), true
		}
	}
	return None, false
}

// Value is one value of any kind. It is comparable; the zero Value is no value. NaNs with the same bits are
// equal, so that round trips can be checked.
type Value struct {
	kind Kind
	bits uint64 // float64 bits, int64 or 0/1
	text string
}

// FloatOf returns a Float.
func FloatOf(v float64) Value { return Value{kind: Float, bits: math.Float64bits(v)} }

// IntOf returns an Int.
func IntOf(v int64) Value { return Value{kind: Int, bits: uint64(v)} }

// BoolOf returns a Bool.
func BoolOf(v bool) Value {
	if v {
		return Value{kind: Bool, bits: 1}
	}
	return Value{kind: Bool}
}

// TextOf returns a Text.
func TextOf(v string) Value { return Value{kind: Text, text: v} }

// ValueOf returns a value of a kind from its Bits, or from text for Text.
func ValueOf(kind Kind, bits uint64, text string) Value {
	if kind == Text {
		return Value{kind: kind, text: text}
	}
	return Value{kind: kind, bits: bits}
}

// Kind returns the value's kind.
func (v Value) Kind() Kind { return v.kind }

// Bits returns the 64 bits of a Float, Int or Bool; 0 for the rest.
func (v Value) Bits() uint64 { return v.bits }

// Text returns the text of a Text; "" for the rest.
func (v Value) Text() string { return v.text }

// Bool returns whether the value is a true Bool or a number other than zero.
func (v Value) Bool() bool {
	f, ok := v.Number()
	return ok && f != 0
}

// Int returns the value as an integer; a Float is truncated. False if it is not a number or
// does not fit.
func (v Value) Int() (int64, bool) {
	switch v.kind {
	case Int, Bool:
		return int64(v.bits), true
	case Float:
		f := math.Float64frombits(v.bits)
		if math.IsNaN(f) || f < -1<<63 || f >= 1<<63 {
			return 0, false
		}
		return int64(f), true
	case None, Text:
	}
	return 0, false
}

// Number returns the value as a float64, a Bool as 0 or 1; false for None and Text. An Int
// beyond 2^53 loses digits: use Int where they matter.
func (v Value) Number() (float64, bool) {
	switch v.kind {
	case Float:
		return math.Float64frombits(v.bits), true
	case Int, Bool:
		return float64(int64(v.bits)), true
	case None, Text:
	}
	return 0, false
}

// String returns the value for people and CSV: the shortest decimal that parses to the same value, "true" or
// "false", the text itself, and "" for None.
func (v Value) String() string {
	switch v.kind {
	case Float:
		return string(appendFloat(make([]byte, 0, 24), math.Float64frombits(v.bits)))
	case Int:
		return strconv.FormatInt(int64(v.bits), 10)
	case Bool:
		return strconv.FormatBool(v.bits != 0)
	case Text:
		return v.text
	case None:
	}
	return ""
}

// AppendJSON appends the value as JSON: a number, true or false, a string, or null for None. NaN and the
// infinities, which JSON cannot represent, become the strings "NaN", "+Inf" and "-Inf".
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.kind {
	case Float:
		f := math.Float64frombits(v.bits)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			dst = append(dst, '"')
			dst = strconv.AppendFloat(dst, f, 'g', -1, 64)
			return append(dst, '"')
		}
		return appendFloat(dst, f)
	case Int:
		return strconv.AppendInt(dst, int64(v.bits), 10)
	case Bool:
		return strconv.AppendBool(dst, v.bits != 0)
	case Text:
		return AppendQuoted(dst, v.text)
	case None:
	}
	return append(dst, "null"...)
}

// appendFloat appends the shortest decimal that parses to the same value, with an exponent only for very
// small and very large values. Most readings have at most three decimals, for which a special case is five
// times as fast.
func appendFloat(dst []byte, f float64) []byte {
	abs := math.Abs(f)
	if n := int64(f * 1000); abs < 1e9 && float64(n)/1000 == f && (n != 0 || !math.Signbit(f)) {
		return appendThousandths(dst, n)
	}
	format := byte('f')
	if abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(dst, f, format, -1, 64)
}

func appendThousandths(dst []byte, n int64) []byte {
	if n < 0 {
		dst = append(dst, '-')
		n = -n
	}
	dst = strconv.AppendInt(dst, n/1000, 10)
	rest := n % 1000
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', byte('0'+rest/100))
	if rest %= 100; rest != 0 {
		dst = append(dst, byte('0'+rest/10))
		if rest %= 10; rest != 0 {
			dst = append(dst, byte('0'+rest))
		}
	}
	return dst
}

// MarshalJSON implements json.Marshaler with AppendJSON.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }
