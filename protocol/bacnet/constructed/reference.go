package constructed

import (
	"strconv"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

// Index is an element of an array; the zero value means the whole property.
type Index struct {
	plusOne uint64
}

// At returns the index of an element from 1 on; 0 is the length of the array.
func At(i uint32) Index { return Index{uint64(i) + 1} }

// Number returns the index, false for the whole property.
func (i Index) Number() (uint32, bool) { return uint32(i.plusOne - 1), i.plusOne > 0 }

// Append writes the index under a context tag, and nothing for the whole property.
func (i Index) Append(b []byte, tag int) []byte {
	if n, ok := i.Number(); ok {
		return encoding.AppendUnsigned(b, tag, uint64(n))
	}
	return b
}

// ReadIndex reads an optional index.
func ReadIndex(d *encoding.Decoder, tag int) Index {
	if d.Has(tag) {
		return At(d.Uint32(tag))
	}
	return Index{}
}

// PropertyReference is a property of a known object (BACnetPropertyReference).
type PropertyReference struct {
	Property enum.Property
	Index    Index
}

// ReadPropertyReference reads a reference.
func ReadPropertyReference(d *encoding.Decoder) PropertyReference {
	return PropertyReference{enum.Property(d.Enumerated(0)), ReadIndex(d, 1)}
}

// Append writes the reference.
func (r PropertyReference) Append(b []byte) []byte {
	return r.Index.Append(encoding.AppendEnumerated(b, 0, uint32(r.Property)), 1)
}

// String returns the property, with an index in brackets if there is one.
func (r PropertyReference) String() string {
	if n, ok := r.Index.Number(); ok {
		return r.Property.String() + "[" + strconv.FormatUint(uint64(n), 10) + "]"
	}
	return r.Property.String()
}

// ObjectPropertyReference is a property of an object, here or in another device
// (BACnetObjectPropertyReference, BACnetDeviceObjectPropertyReference).
type ObjectPropertyReference struct {
	Object   encoding.ObjectID
	Property enum.Property
	Index    Index
	Device   encoding.ObjectID // if Remote

	Remote bool // in another device
}

// ReadObjectPropertyReference reads a reference, with a device or without.
func ReadObjectPropertyReference(d *encoding.Decoder) ObjectPropertyReference {
	r := ObjectPropertyReference{Object: d.ObjectID(0), Property: enum.Property(d.Enumerated(1)), Index: ReadIndex(d, 2)}
	if r.Remote = d.Has(3); r.Remote {
		r.Device = d.ObjectID(3)
	}
	return r
}

// Append writes the reference.
func (r ObjectPropertyReference) Append(b []byte) []byte {
	b = encoding.AppendEnumerated(encoding.AppendObjectID(b, 0, r.Object), 1, uint32(r.Property))
	if b = r.Index.Append(b, 2); r.Remote {
		b = encoding.AppendObjectID(b, 3, r.Device)
	}
	return b
}

// Address is the station of a recipient (BACnetAddress): network 0 is the local one, an empty
// MAC means a broadcast.
type Address struct {
	Net uint16
	MAC string
}

// ReadAddress reads an address.
func ReadAddress(d *encoding.Decoder) Address {
	return Address{uint16(d.Unsigned(encoding.App)), string(d.Octets(encoding.App))}
}

// Append writes the address.
func (a Address) Append(b []byte) []byte {
	return encoding.AppendOctets(encoding.AppendUnsigned(b, encoding.App, uint64(a.Net)), encoding.App, a.MAC)
}

// AddressBinding is where a device was seen (BACnetAddressBinding).
type AddressBinding struct {
	Device  encoding.ObjectID
	Address Address
}

// ReadAddressBinding reads an element of the property device-address-binding.
func ReadAddressBinding(d *encoding.Decoder) AddressBinding {
	return AddressBinding{d.ObjectID(encoding.App), ReadAddress(d)}
}

// Append writes the binding.
func (a AddressBinding) Append(b []byte) []byte {
	return a.Address.Append(encoding.AppendObjectID(b, encoding.App, a.Device))
}

// Recipient is who is told of events (BACnetRecipient): a device, or an address if ByAddress.
type Recipient struct {
	Device  encoding.ObjectID
	Address Address

	ByAddress bool
}

// ReadRecipient reads a recipient.
func ReadRecipient(d *encoding.Decoder) Recipient {
	if d.Has(0) {
		return Recipient{Device: d.ObjectID(0)}
	}
	d.Opening(1)
	r := Recipient{Address: ReadAddress(d), ByAddress: true}
	d.Closing(1)
	return r
}

// Append writes the recipient.
func (r Recipient) Append(b []byte) []byte {
	if r.ByAddress {
		return encoding.AppendAny(b, 1, r.Address.Append(nil))
	}
	return encoding.AppendObjectID(b, 0, r.Device)
}

// Destination is when and how a recipient is told (BACnetDestination), an element of the
// property recipient-list.
type Destination struct {
	Days        encoding.BitString // Monday first
	From, To    encoding.Time
	Recipient   Recipient
	Process     uint32
	Confirmed   bool
	Transitions encoding.BitString // to-offnormal, to-fault, to-normal
}

// ReadDestination reads a destination.
func ReadDestination(d *encoding.Decoder) Destination {
	return Destination{
		Days: d.Bits(encoding.App), From: d.Time(encoding.App), To: d.Time(encoding.App), Recipient: ReadRecipient(d),
		Process: d.Uint32(encoding.App), Confirmed: d.Boolean(encoding.App), Transitions: d.Bits(encoding.App),
	}
}

// Append writes the destination.
func (r Destination) Append(b []byte) []byte {
	b = encoding.AppendBits(b, encoding.App, r.Days)
	b = encoding.AppendTime(encoding.AppendTime(b, encoding.App, r.From), encoding.App, r.To)
	b = encoding.AppendUnsigned(r.Recipient.Append(b), encoding.App, uint64(r.Process))
	return encoding.AppendBits(encoding.AppendBoolean(b, encoding.App, r.Confirmed), encoding.App, r.Transitions)
}

// COVSubscription is who is told of changes of a property (BACnetCOVSubscription).
type COVSubscription struct {
	Recipient Recipient
	Process   uint32
	Property  ObjectPropertyReference
	Confirmed bool
	Left      uint32 // seconds; 0: without an end
	Increment encoding.Value
}

// ReadCOVSubscription reads an element of the property active-cov-subscriptions.
func ReadCOVSubscription(d *encoding.Decoder) COVSubscription {
	var s COVSubscription
	d.Opening(0)
	d.Opening(0)
	s.Recipient = ReadRecipient(d)
	d.Closing(0)
	s.Process = d.Uint32(1)
	d.Closing(0)
	d.Opening(1)
	s.Property = ReadObjectPropertyReference(d)
	d.Closing(1)
	s.Confirmed, s.Left = d.Boolean(2), d.Uint32(3)
	if d.Has(4) {
		s.Increment = encoding.Real(d.Real(4))
	}
	return s
}

// Append writes the subscription.
func (s COVSubscription) Append(b []byte) []byte {
	b = encoding.AppendAny(encoding.AppendOpening(b, 0), 0, s.Recipient.Append(nil))
	b = encoding.AppendClosing(encoding.AppendUnsigned(b, 1, uint64(s.Process)), 0)
	b = encoding.AppendBoolean(encoding.AppendAny(b, 1, s.Property.Append(nil)), 2, s.Confirmed)
	if b = encoding.AppendUnsigned(b, 3, uint64(s.Left)); s.Increment.Kind() == encoding.KindReal {
		b = s.Increment.Append(b, 4)
	}
	return b
}
