package modbus

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"voltbus/point"
)

// form is what the bits of a value mean.
type form uint8

const (
	formBool form = iota
	formInt
	formUint
	formFloat
	formText
)

// order is how a device arranges the bytes of a value: ABCD is both false. The words are those
// of 16 bits; a value of 64 bits has four of them.
type order struct {
	bytes bool // the two bytes of each word are swapped: BADC, DCBA
	words bool // the last word comes first: CDAB, DCBA
}

// layout is how a value lies in its registers.
type layout struct {
	form    form
	words   int   // registers, or 1 bit
	size    int   // bytes of a text
	latin   bool  // of a text: ISO 8859-1, not UTF-8
	order   order //
	low     uint8 // of a bit field: the lowest bit
	width   uint8 // of a bit field: how many bits; 0 if the value is the whole
	several bool  // a bit field written as a range, which is a number even if one bit wide
}

// isField reports whether the value is some bits of its registers.
func (l layout) isField() bool { return l.width > 0 }

func (l layout) kind() point.Kind {
	switch {
	case l.isField() && !l.several, l.form == formBool:
		return point.Bool
	case l.form == formFloat:
		return point.Float
	case l.form == formText:
		return point.Text
	}
	return point.Int
}

func parseOrder(s string) (order, error) {
	switch strings.ToUpper(s) {
	case "", "ABCD", "BIG":
		return order{}, nil
	case "BADC":
		return order{bytes: true}, nil
	case "CDAB", "MIXED":
		return order{words: true}, nil
	case "DCBA", "LITTLE":
		return order{bytes: true, words: true}, nil
	}
	return order{}, fmt.Errorf("%q is not known; write ABCD, BADC, CDAB or DCBA", s)
}

// plainLayout returns the layout of a type's name, in the order ABCD.
func plainLayout(name string) (layout, bool) {
	switch name {
	case "bool", "boolean", "bit":
		return layout{form: formBool, words: 1}, true
	case "int16", "short":
		return layout{form: formInt, words: 1}, true
	case "uint16", "ushort", "word":
		return layout{form: formUint, words: 1}, true
	case "int32", "int":
		return layout{form: formInt, words: 2}, true
	case "uint32", "uint":
		return layout{form: formUint, words: 2}, true
	case "int64":
		return layout{form: formInt, words: 4}, true
	case "uint64":
		return layout{form: formUint, words: 4}, true
	case "float", "float32", "real":
		return layout{form: formFloat, words: 2}, true
	case "double", "float64":
		return layout{form: formFloat, words: 4}, true
	}
	return layout{}, false
}

// structLayout returns the layout of a format of Python's struct module, such as ">f", and
// whether it states the order.
func structLayout(format string) (l layout, ordered, ok bool) {
	code := strings.TrimLeft(format, "@=<>!")
	prefix := format[:len(format)-len(code)]
	if len(prefix) > 1 {
		return layout{}, false, false
	}
	if prefix == "<" {
		l.order = order{bytes: true, words: true}
	}
	names := map[string]string{
		"?": "bool", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "l": "int32", "L": "uint32",
		"q": "int64", "Q": "uint64", "f": "float32", "d": "float64",
	}
	plain, known := plainLayout(names[code])
	if !known {
		return layout{}, false, false
	}
	plain.order = l.order
	return plain, prefix == "<" || prefix == ">" || prefix == "!", true
}

// textLayout returns the layout of string[n] or string[n,latin1]: n bytes, two in each register.
func textLayout(name string) (layout, error) {
	inner, closed := strings.CutSuffix(strings.TrimPrefix(name, "string["), "]")
	size, encoding, _ := strings.Cut(inner, ",")
	n, err := strconv.Atoi(strings.TrimSpace(size))
	if err != nil || !closed || n < 1 || n > 2*maxRegisters {
		return layout{}, fmt.Errorf("%q is not a text; write string[n] with n bytes, 1 to %d", name, 2*maxRegisters)
	}
	l := layout{form: formText, words: (n + 1) / 2, size: n}
	switch strings.TrimSpace(encoding) {
	case "", "utf8", "utf-8":
	case "latin1", "latin-1", "iso-8859-1":
		l.latin = true
	default:
		return layout{}, fmt.Errorf("%q has an encoding that is not known; write string[%d] for UTF-8 or string[%d,latin1]", name, n, n)
	}
	return l, nil
}

// layout reads the entry's type, byte order and bits.
func (e *Entry) layout(deviceOrder string) (layout, error) {
	ord, err := parseOrder(deviceOrder)
	if err != nil {
		ord = order{} // reported for the device already
	}
	l, ordered, err := parseType(e.Type)
	if err != nil {
		return layout{words: 1}, err
	}
	if !ordered {
		l.order = ord
	}
	if e.ByteOrder != "" {
		if l.order, err = parseOrder(e.ByteOrder); err != nil {
			return l, err
		}
	}
	mixed, err := parseBool(e.MixedEndian)
	if err != nil {
		return l, fmt.Errorf("mixed_endian: %w", err)
	}
	if mixed {
		l.order.words = !l.order.words
	}
	return l, l.setBits(e.Bit)
}

func parseType(name string) (l layout, ordered bool, err error) {
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
		return layout{}, false, errors.New("is missing; write bool, int16, uint16, int32, uint32, int64, uint64, float32, float64, string[n] or string[n,latin1]")
	}
	return layout{}, false, fmt.Errorf("%q is not known; write bool, int16, uint16, int32, uint32, int64, uint64, float32, float64, string[n] or string[n,latin1]", name)
}

// setBits reads "3" or "4-7".
func (l *layout) setBits(s string) error {
	if s == "" {
		return nil
	}
	if l.form == formFloat || l.form == formText {
		return errors.New("has bits, which a float or a string has not; write uint16 or remove bit")
	}
	first, last, isRange := strings.Cut(strings.ReplaceAll(s, "..", "-"), "-")
	if !isRange {
		last = first
	}
	low, err1 := strconv.Atoi(strings.TrimSpace(first))
	high, err2 := strconv.Atoi(strings.TrimSpace(last))
	if err1 != nil || err2 != nil || low < 0 || high < low || high >= 16*l.words || high-low >= 63 {
		return fmt.Errorf("bit %q is not possible; write a bit from 0 to %d, or a range such as 4-7", s, 16*l.words-1)
	}
	if l.form == formBool && low != high {
		return fmt.Errorf("bit %q is a range, but the type is bool; write uint16", s)
	}
	l.form = formUint
	l.low, l.width, l.several = uint8(low), uint8(high-low+1), isRange
	return nil
}
