package server

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// Value is the value of a property: one value, encoded data, or an array.
type Value struct {
	form     form
	one      encoding.Value
	data     encoding.Any   // of encodedData, and of an array all elements one after the other
	elements []encoding.Any // of anArray
}

type form uint8

const (
	oneValue form = iota
	encodedData
	anArray
)

// Single returns the value of a property that is one value.
func Single(v encoding.Value) Value { return Value{one: v} }

// Encoded returns the value of a property of a constructed type, or a list.
func Encoded(data encoding.Any) Value { return Value{form: encodedData, data: data} }

// List returns the value of a property that is an array of values.
func List(values ...encoding.Value) Value {
	all := encoding.Encode(values...)
	elements := make([]encoding.Any, 0, len(values))
	for at, i := 0, 0; i < len(values); i++ {
		size := len(encoding.Encode(values[i]))
		elements = append(elements, all[at:at+size:at+size])
		at += size
	}
	return Value{form: anArray, data: all, elements: elements}
}

// appendTo writes the whole, the length or an element.
func (v Value) appendTo(b []byte, index constructed.Index) ([]byte, error) {
	i, indexed := index.Number()
	switch {
	case !indexed && v.form == oneValue:
		return v.one.Append(b, encoding.App), nil
	case !indexed:
		return append(b, v.data...), nil
	case v.form != anArray:
		return nil, propertyError(enum.CodePropertyIsNotAnArray)
	case i == 0:
		return encoding.AppendUnsigned(b, encoding.App, uint64(len(v.elements))), nil
	case uint64(i) > uint64(len(v.elements)):
		return nil, propertyError(enum.CodeInvalidArrayIndex)
	}
	return append(b, v.elements[i-1]...), nil
}

func propertyError(code enum.ErrorCode) error {
	return service.Error{Class: enum.ClassProperty, Code: code}
}
