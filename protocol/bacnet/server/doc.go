// Package server is a BACnet device (ASHRAE 135): objects with properties that clients find, read, write at priorities and subscribe to.
// A [Device] has one socket and, beside its own services, the client of package client on it.
//
// Objects are an interface; [Point] is an object with a present value, which may be commanded. A list that is too long to be read as a
// property, such as the records of a trend log, is read by ranges from an object that is [Ranged].
package server

import (
	"context"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// Object is an object of a device. Its methods may be called by several goroutines. Errors that are no service.Error are told to the
// client as operational-problem.
type Object interface {
	// ID identifies the object; it does not change.
	ID() encoding.ObjectID
	// Name is unique in the device; it does not change.
	Name() string
	// Properties lists what Read knows, without the four that the device answers itself:
	// object-identifier, object-name, object-type and property-list. The caller does not change it.
	Properties() []enum.Property
	// Read returns a property, or an error that says that there is none. It must not block.
	Read(p enum.Property) (Value, error)
	// Write writes a property, or an element of an array. It may wait, such as for somebody who decides about it, until ctx ends.
	Write(ctx context.Context, w Write) error
}

// Write is a property that is written; priority 0 means none, which counts as 16.
type Write struct {
	service.PropertyWrite

	From ip.Address // who writes: BACnet/IP knows no more than its address
}

// Watched is an object whose changes can be subscribed to.
type Watched interface {
	Object
	// Reported returns what a notification says: present value and status flags.
	Reported() []service.PropertyWrite
	// Differs reports whether a subscriber that was told the one must be told the other.
	Differs(told, now []service.PropertyWrite) bool
}

// Ranged is an object with a list that is read by ranges (clause 15.8).
type Ranged interface {
	Object
	// ReadRange returns items of a list of which the encoded ones take at most room bytes. It may wait until ctx ends.
	ReadRange(ctx context.Context, r service.ReadRangeRequest, room int) (service.ReadRangeAck, error)
}
