// Package server is a BACnet device (ASHRAE 135): objects with properties that clients find, read, write at priorities and subscribe to.
// A [Device] has one socket and, beside its own services, the client of package client on it.
//
// Objects are an interface; [Point] is an object with a present value, which may be commanded.
package server

import (
	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// Object is an object of a device. Its methods may be called by several goroutines, and must not
// block. Errors that are no service.Error are told to the client as operational-problem.
type Object interface {
	// ID identifies the object; it does not change.
	ID() encoding.ObjectID
	// Name is unique in the device; it does not change.
	Name() string
	// Properties lists what Read knows, without the four that the device answers itself:
	// object-identifier, object-name, object-type and property-list.
	Properties() []enum.Property
	// Read returns a property, or ErrUnknownProperty.
	Read(p enum.Property) (Value, error)
	// Write writes a property, or an element of an array, at a priority; 0 means none, which
	// counts as 16.
	Write(w service.PropertyWrite) error
}

// Watched is an object whose changes can be subscribed to.
type Watched interface {
	Object
	// Reported returns what a notification says: present value and status flags.
	Reported() []service.PropertyWrite
	// Differs reports whether a subscriber that was told the one must be told the other.
	Differs(told, now []service.PropertyWrite) bool
}

// Value is the value of a property.
type Value struct {
	Data  encoding.Any   // unless it is an array
	Array []encoding.Any // elements; nil: no array
}

// Single returns the value of a property that is one value.
func Single(v encoding.Value) Value { return Value{Data: encoding.Encode(v)} }

// List returns the value of a property that is an array of values.
func List(values ...encoding.Value) Value {
	array := make([]encoding.Any, 0, len(values))
	for _, v := range values {
		array = append(array, encoding.Encode(v))
	}
	return Value{Array: array}
}

// at returns the whole, the length or an element.
func (v Value) at(index constructed.Index) (encoding.Any, error) {
	i, indexed := index.Number()
	switch {
	case !indexed && v.Array == nil:
		return v.Data, nil
	case !indexed:
		var all encoding.Any
		for _, element := range v.Array {
			all = append(all, element...)
		}
		return all, nil
	case v.Array == nil:
		return nil, propertyError(enum.CodePropertyIsNotAnArray)
	case i == 0:
		return encoding.Encode(encoding.Unsigned(uint64(len(v.Array)))), nil
	case uint64(i) > uint64(len(v.Array)):
		return nil, propertyError(enum.CodeInvalidArrayIndex)
	}
	return v.Array[i-1], nil
}

func propertyError(code enum.ErrorCode) error {
	return service.Error{Class: enum.ClassProperty, Code: code}
}
