// Package layout describes how values are laid out in registers: types, byte order, texts and bit fields. It knows nothing of
// registries, scales and the wire.
package layout

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"voltbus/point"
)

// MaxRegisters is the maximum number of registers in one request: Modbus Application Protocol V1.1b3, 6.3.
const MaxRegisters = 125

// Form is the meaning of a value's bits.
type Form uint8

// The forms.
const (
	Bool Form = iota
	Int
	Uint
	Float
	Text
)

// Order is how a device arranges the bytes of a value: for ABCD both are false. Words have 16 bits; a 64-bit
// value has four of them.
type Order struct {
	Bytes bool // the two bytes of each word are swapped: BADC, DCBA
	Words bool // the last word comes first: CDAB, DCBA
}

// Layout is the layout of a value in its registers.
type Layout struct {
	Form    Form
	Words   int   // registers, or 1 bit
	Size    int   // bytes of a string
	latin   bool  // of a string: ISO 8859-1 instead of UTF-8
	Order   Order //
	low     uint8 // of a bit field: the lowest bit
	width   uint8 // of a bit field: the number of bits; 0 if it is no bit field
	several bool  // a bit field written as a range, which is a number even if one bit wide
}

// IsField reports whether the value is a bit field.
func (l Layout) IsField() bool { return l.width > 0 }

// Kind returns the kind of the values.
func (l Layout) Kind() point.Kind {
	switch {
	case l.IsField() && !l.several, l.Form == Bool:
		return point.Bool
	case l.Form == Float:
		return point.Float
	case l.Form == Text:
		return point.Text
	}
	return point.Int
}

// ParseOrder parses the name of an order, such as CDAB; "" means ABCD.
func ParseOrder(s string) (Order, error) {
	switch strings.ToUpper(s) {
	case "", "ABCD", "BIG":
		return Order{}, nil
	case "BADC":
		return Order{Bytes: true}, nil
	case "CDAB", "MIXED":
		return Order{Words: true}, nil
	case "DCBA", "LITTLE":
		return Order{Bytes: true, Words: true}, nil
	}
	return Order{}, fmt.Errorf("%q is not known; write ABCD, BADC, CDAB or DCBA", s)
}

// plainLayout returns the layout of a type name, in the order ABCD.
func plainLayout(name string) (Layout, bool) {
	switch name {
	case "bool", "boolean", "bit":
		return Layout{Form: Bool, Words: 1}, true
	case "int16", "short":
		return Layout{Form: Int, Words: 1}, true
	case "uint16", "ushort", "word":
		return Layout{Form: Uint, Words: 1}, true
	case "int32", "int":
		return Layout{Form: Int, Words: 2}, true
	case "uint32", "uint":
		return Layout{Form: Uint, Words: 2}, true
	case "int64":
		return Layout{Form: Int, Words: 4}, true
	case "uint64":
		return Layout{Form: Uint, Words: 4}, true
	case "float", "float32", "real":
		return Layout{Form: Float, Words: 2}, true
	case "double", "float64":
		return Layout{Form: Float, Words: 4}, true
	}
	return Layout{}, false
}

// structLayout returns the layout of a format of Python's struct module, such as ">f", and
// whether it states the order.
func structLayout(format string) (l Layout, ordered, ok bool) {
	code := strings.TrimLeft(format, "@=<>!")
	prefix := format[:len(format)-len(code)]
	if len(prefix) > 1 {
		return Layout{}, false, false
	}
	if prefix == "<" {
		l.Order = Order{Bytes: true, Words: true}
	}
	names := map[string]string{
		"?": "bool", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "l": "int32", "L": "uint32",
		"q": "int64", "Q": "uint64", "f": "float32", "d": "float64",
	}
	plain, known := plainLayout(names[code])
	if !known {
		return Layout{}, false, false
	}
	plain.Order = l.Order
	return plain, prefix == "<" || prefix == ">" || prefix == "!", true
}

// textLayout returns the layout of string[n] or string[n,latin1]: n bytes, two in each register.
func textLayout(name string) (Layout, error) {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(name, "string["), "]")
	size, encoding, _ := strings.Cut(inner, ",")
	n, err := strconv.Atoi(strings.TrimSpace(size))
	if err != nil || !closed || n < 1 || n > 2*MaxRegisters {
		return Layout{}, fmt.Errorf("%q is not a text; write string[n] with n bytes, 1 to %d", name, 2*MaxRegisters)
	}
	l := Layout{Form: Text, Words: (n + 1) / 2, Size: n}
	switch strings.TrimSpace(encoding) {
	case "", "utf8", "utf-8":
	case "latin1", "latin-1", "iso-8859-1":
		l.latin = true
	default:
		return Layout{}, fmt.Errorf("%q has an encoding that is not known; write string[%d] for UTF-8 or string[%d,latin1]", name, n, n)
	}
	return l, nil
}

// Parse parses a type name, such as int16, string[8] or >f, and reports whether it states the byte order.
func Parse(name string) (l Layout, ordered bool, err error) {
	name = strings.TrimSpace(name)
	lower := strings.ToLower(name)
	if plain, known := plainLayout(lower); known {
		return plain, false, nil
	}
	if strings.HasPrefix(lower, "string") {
		l, err = textLayout(lower)
		return l, false, err
	}
	if l, ordered, known := structLayout(name); known {
		return l, ordered, nil
	}
	if name == "" {
		return Layout{}, false, errors.New("is missing; write bool, int16, uint16, int32, uint32, int64, uint64, float32, float64, string[n] or string[n,latin1]")
	}
	return Layout{}, false, fmt.Errorf("%q is not known; write bool, int16, uint16, int32, uint32, int64, uint64, float32, float64, string[n] or string[n,latin1]", name)
}

// SetBits parses "3" or "4-7".
func (l *Layout) SetBits(s string) error {
	if s == "" {
		return nil
	}
	if l.Form == Float || l.Form == Text {
		return errors.New("has bits, which a float or a string has not; write uint16 or remove bit")
	}
	first, last, isRange := strings.Cut(strings.ReplaceAll(s, "..", "-"), "-")
	if !isRange {
		last = first
	}
	low, err1 := strconv.Atoi(strings.TrimSpace(first))
	high, err2 := strconv.Atoi(strings.TrimSpace(last))
	if err1 != nil || err2 != nil || low < 0 || high < low || high >= 16*l.Words || high-low >= 63 {
		return fmt.Errorf("bit %q is not possible; write a bit from 0 to %d, or a range such as 4-7", s, 16*l.Words-1)
	}
	if l.Form == Bool && low != high {
		return fmt.Errorf("bit %q is a range, but the type is bool; write uint16", s)
	}
	l.Form = Uint
	l.low, l.width, l.several = uint8(low), uint8(high-low+1), isRange
	return nil
}
