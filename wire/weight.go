package wire

import (
	"bytes"
	"fmt"

	"voltbus/fault"
)

// Approximate memory for decoding JSON: the slots of a value and of an object in growing lists, and their
// content before it is decoded.
const (
	valueBytes  = 64
	objectBytes = 256
	lightText   = 1 << 10 // a text not worth examining
)

// Heaviest is the weight from which JSON is refused: some 500,000 objects or 2.5 million numbers.
const Heaviest = 160 << 20

// Weight is the approximate memory in bytes for decoding JSON. A list of {} takes a hundred times its length,
// so the length alone is no bound.
func Weight(text []byte) int {
	if len(text) < lightText {
		return len(text)
	}
	values, objects := bytes.Count(text, []byte{','}), bytes.Count(text, []byte{'{'})
	weight := len(text) + values*valueBytes + objects*objectBytes
	if weight <= Heaviest/16 {
		return weight
	}
	values, objects = parts(text) // most may be within strings, such as a table
	return len(text) + values*valueBytes + objects*objectBytes
}

// parts counts commas and object openings outside strings.
func parts(text []byte) (values, objects int) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case quoted:
		case c == ',':
			values++
		case c == '{':
			objects++
		}
	}
	return values, objects
}

var errHeavy = fmt.Errorf("has too many values for one message: reading them would take more than %d MiB; send them in parts", Heaviest>>20)

// Readable refuses JSON that would take too much memory to decode: fault.Invalid.
func Readable(subject string, text []byte) error {
	if Weight(text) > Heaviest {
		return fault.E("wire.Readable", fault.Invalid, subject, errHeavy)
	}
	return nil
}
