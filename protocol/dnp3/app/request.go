package app

import "voltbus/protocol/dnp3/object"

// Classes is a set of event classes and the class of current values.
type Classes uint8

// Classes of data.
const (
	Class1 Classes = 1 << iota
	Class2
	Class3
	// Class0 is every point's current value.
	Class0
)

// Sets of classes.
const (
	// EventClasses are the three event classes.
	EventClasses = Class1 | Class2 | Class3
	// Integrity is what an integrity poll reads: events first, then current values.
	Integrity = EventClasses | Class0
)

// Classes appends a header for all objects of each class in the set, in the order
// 1, 2, 3, 0, as in a read, or in enabling unsolicited responses (no class 0).
func (w *Writer) Classes(set Classes) error {
	order := [...]struct {
		class     Classes
		variation object.Variation
	}{{Class1, object.G60V2}, {Class2, object.G60V3}, {Class3, object.G60V4}, {Class0, object.G60V1}}
	start := len(w.buf)
	for _, entry := range order {
		if set&entry.class == 0 {
			continue
		}
		if err := w.All(entry.variation); err != nil {
			w.buf = w.buf[:start]
			return err
		}
	}
	return nil
}

// ClearRestart appends the object that clears [IINDeviceRestart] when written
// (g80v1, index 7, value 0).
func (w *Writer) ClearRestart() error {
	w.closeRun()
	return w.Static(object.G80V1, object.Point{Index: restartBit, Value: object.Bool(false)})
}
