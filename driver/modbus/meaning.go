package modbus

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"voltbus/driver/modbus/layout"
	"voltbus/point"
)

// Orders are the byte orders of values of more than one register, as the configuration names them.
func Orders() []string { return []string{"ABCD", "CDAB", "BADC", "DCBA"} }

// Types are the types as which raw words can be read, except strings.
func Types() []string {
	return []string{"uint16", "int16", "uint32", "int32", "float32", "uint64", "int64", "float64"}
}

// Meaning is the value of words interpreted as a type in a byte order.
type Meaning struct {
	Type  string
	Order string      // "" for a single register in the standard byte order
	Value point.Value // None if the words are not a value of the type
}

// Meanings returns the words interpreted as each type, or the named ones, in each order. A type that needs more words
// than given is skipped. It fails for an unknown type.
func Meanings(words []uint16, types ...string) ([]Meaning, error) {
	if len(types) == 0 {
		types = Types()
	}
	var out []Meaning
	for _, name := range types {
		l, _, err := layout.Parse(name)
		if err != nil {
			return nil, err
		}
		if l.Words > len(words) {
			continue
		}
		orders := Orders()
		switch {
		case l.Form == layout.Text:
			orders = []string{"ABCD", "BADC"} // a string has no word order
		case l.Words == 1:
			orders = []string{""}
		}
		for _, order := range orders {
			out = append(out, meaning(name, order, l, words))
		}
	}
	return out, nil
}

func meaning(name, order string, l layout.Layout, words []uint16) Meaning {
	l.Order, _ = layout.ParseOrder(order) // one of Orders
	m := Meaning{Type: name, Order: order}
	if l.Form == layout.Text {
		if text, ok := l.Text(words); ok {
			m.Value = point.TextOf(text)
		}
	} else if v, ok := l.Value(l.Join(words)); ok {
		m.Value = v
	}
	return m
}

// Encode returns the words that represent a value of a type in a byte order. The error says what to write instead.
func Encode(typeName, order, text string) ([]uint16, error) {
	l, ordered, err := layout.Parse(typeName)
	if err != nil {
		return nil, fmt.Errorf("type %w", err)
	}
	o, err := layout.ParseOrder(order)
	if err != nil {
		return nil, fmt.Errorf("byte order %w", err)
	}
	if !ordered {
		l.Order = o
	}
	v, err := parseValue(text, l.Kind())
	if err != nil {
		return nil, err
	}
	return (&register{layout: l}).encode(v, nil, 0)
}

// WordsOf returns how many registers a type takes; 0 for an unknown one.
func WordsOf(typeName string) int {
	l, _, err := layout.Parse(typeName)
	if err != nil {
		return 0
	}
	return l.Words
}

// ParseWords parses raw words: 0x41ac, 16812, or several in one such as 41ac0000 with an even number of bytes.
func ParseWords(texts []string) ([]uint16, error) {
	var words []uint16
	for _, text := range texts {
		w, err := parseWord(text)
		if err != nil {
			return nil, err
		}
		words = slices.Concat(words, w)
	}
	return words, nil
}

func parseWord(text string) ([]uint16, error) {
	digits, hexadecimal := strings.CutPrefix(strings.ToLower(text), "0x")
	if !hexadecimal && len(digits) <= 5 {
		w, err := strconv.ParseUint(digits, 10, 16)
		if err != nil {
			return nil, errWord(text)
		}
		return []uint16{uint16(w)}, nil
	}
	if digits == "" || !hexadecimal && strings.Trim(digits, "0123456789") == "" {
		return nil, errWord(text) // a large decimal number must not be taken for the hexadecimal one with its digits
	}
	var words []uint16
	for digits = strings.Repeat("0", (4-len(digits)%4)%4) + digits; digits != ""; digits = digits[4:] {
		w, err := strconv.ParseUint(digits[:4], 16, 16)
		if err != nil {
			return nil, errWord(text)
		}
		words = append(words, uint16(w))
	}
	return words, nil
}

func errWord(text string) error {
	return fmt.Errorf("%q is no register; write 0 to 65535, such as 16812 or 0x41ac, or several together such as 0x41ac0000: large numbers in hexadecimal", text)
}
