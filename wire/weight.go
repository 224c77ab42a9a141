package wire

import (
	"bytes"
	"fmt"

	"voltbus/fault"
)

// What reading JSON takes of memory, about: the places of a value and of an object in lists that grow, and what
// stands in them before anybody has looked at it.
const (
	valueBytes  = 64
	objectBytes = 256
	lightText   = 1 << 10 // a text that is not worth a look
)

// Heaviest is the weight of a text of JSON that is not read: some 500,000 objects or 2.5 million numbers.
const Heaviest = 160 << 20

// Weight is about how many bytes of memory it takes to read a text of JSON. A list of {} takes a hundred times
// its text, so the length of the text alone bounds nothing.
func Weight(text []byte) int {
	if len(text) < lightText {
		return len(text)
	}
	values, objects := bytes.Count(text, []byte{','}), bytes.Count(text, []byte{'{'})
	weight := len(text) + values*valueBytes + objects*objectBytes
	if weight <= Heaviest/16 {
		return weight
	}
	values, objects = parts(text) // most may stand in texts, such as a table
	return len(text) + values*valueBytes + objects*objectBytes
}

// parts counts commas and openings of objects outside of quoted texts.
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

// Readable refuses a text of JSON that would take too much memory to read: fault.Invalid.
func Readable(subject string, text []byte) error {
	if Weight(text) > Heaviest {
		return fault.E("wire.Readable", fault.Invalid, subject, errHeavy)
	}
	return nil
}
