// Package constructed reads and writes the constructed types of BACnet properties (ASHRAE 135 clause 21): time stamps, references,
// schedules, calendars, log records, recipients and subscriptions.
//
// A type T has Append, which writes it where the standard has no tag around it, and a
// function ReadT for the same place. Lists of them are read with [List].
package constructed

import "voltbus/protocol/bacnet/encoding"

// List reads elements up to the end of data, such as the value of a property.
func List[T any](data encoding.Any, read func(*encoding.Decoder) T) ([]T, error) {
	d := encoding.NewDecoder(data)
	var list []T
	for d.More() {
		list = append(list, read(d))
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	return list, nil
}

// appender is what can write itself behind other data.
type appender interface{ Append(b []byte) []byte }

// Encode writes elements one after the other.
func Encode[T appender](list ...T) encoding.Any {
	var b []byte
	for _, element := range list {
		b = element.Append(b)
	}
	return b
}
