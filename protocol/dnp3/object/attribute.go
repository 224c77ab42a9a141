package object

import (
	"encoding/binary"
	"fmt"
	"math"
)

const (
	// attributeLimit is the longest attribute with a one-octet length.
	attributeLimit = 255
	// extension is what the extended list's length counts less.
	extension = 256
)

// AttributeType says how the value of a device attribute is written (Annex A, g0).
type AttributeType uint8

// Attribute types.
const (
	// AttributeText is visible ASCII.
	AttributeText AttributeType = 1
	// AttributeUnsigned is an unsigned integer of 1–8 octets.
	AttributeUnsigned AttributeType = 2
	// AttributeSigned is a signed integer of 1–8 octets.
	AttributeSigned AttributeType = 3
	// AttributeFloat is a single or double-precision number.
	AttributeFloat AttributeType = 4
	// AttributeOctets are octets without further meaning.
	AttributeOctets AttributeType = 5
	// AttributeBits are bits.
	AttributeBits AttributeType = 6
	// AttributeTime is a DNP3 time of six octets.
	AttributeTime AttributeType = 7
	// AttributeList is a list of attribute numbers with their properties.
	AttributeList AttributeType = 254
	// AttributeLongList is a list whose length octet counts from 256.
	AttributeLongList AttributeType = 255
)

// Attribute is a device attribute. Its number is the object's variation, its set
// the object's index; set 0 is defined by the standard.
type Attribute struct {
	Type AttributeType
	// Data is the value: at most 255 octets, 511 for AttributeLongList.
	Data []byte
}

// AttributeItem is an entry of an attribute list (g0v255).
type AttributeItem struct {
	Number uint8
	// Writable says that the master may write the attribute.
	Writable bool
}

// Attribute returns the device attribute of an object of group 0; ok is false for
// any other object.
func (o Raw) Attribute() (a Attribute, ok bool) {
	if o.Variation.Group() != groupAttribute || len(o.Data) < AttributeHead {
		return Attribute{}, false
	}
	return Attribute{Type: AttributeType(o.Data[0]), Data: o.Data[AttributeHead:]}, true
}

// Value returns the value of an attribute that is a number; ok is false for other
// types and for widths no number has.
func (a Attribute) Value() (v Value, ok bool) {
	n := len(a.Data)
	switch {
	case a.Type == AttributeUnsigned && n >= 1 && n <= 8:
		return Unsigned(bigUint(a.Data)), true
	case a.Type == AttributeSigned && n >= 1 && n <= 8:
		shift := 64 - 8*n
		return Signed(int64(bigUint(a.Data)<<shift) >> shift), true
	case a.Type == AttributeFloat && n == 4:
		return Float(float64(math.Float32frombits(binary.LittleEndian.Uint32(a.Data)))), true
	case a.Type == AttributeFloat && n == 8:
		return Float(math.Float64frombits(binary.LittleEndian.Uint64(a.Data))), true
	default:
		return Value{}, false
	}
}

// Time returns the value of an attribute that is a time.
func (a Attribute) Time() (t Timestamp, ok bool) {
	if a.Type != AttributeTime || len(a.Data) != TimeSize {
		return Timestamp{}, false
	}
	return ReadTime(a.Data), true
}

// List returns the entries of an attribute list, nil for any other attribute.
func (a Attribute) List() []AttributeItem {
	if a.Type != AttributeList && a.Type != AttributeLongList {
		return nil
	}
	items := make([]AttributeItem, 0, len(a.Data)/2)
	for p := a.Data; len(p) >= 2; p = p[2:] {
		items = append(items, AttributeItem{Number: p[0], Writable: p[1]&1 != 0})
	}
	return items
}

// AttributeHead is the size of an attribute's type and length.
const AttributeHead = 2

// AttributeSize returns the size of the attribute at the start of p, of which at
// least AttributeHead octets must be there.
func AttributeSize(p []byte) int {
	size := AttributeHead + int(p[1])
	if AttributeType(p[0]) == AttributeLongList {
		size += extension
	}
	return size
}

// Size returns the octets that Append appends. Data longer than 255 octets needs the
// type AttributeLongList, which takes 256–511; else the error is [ErrValue].
func (a Attribute) Size() (int, error) {
	length := a.length()
	if length < 0 || length > attributeLimit {
		return 0, fmt.Errorf("encode attribute of %d octets: %w", len(a.Data), ErrValue)
	}
	return AttributeHead + len(a.Data), nil
}

// Append appends type, length and data of an attribute whose Size is no error.
func (a Attribute) Append(dst []byte) []byte {
	return append(append(dst, byte(a.Type), byte(a.length())), a.Data...)
}

// length returns what the length octet says.
func (a Attribute) length() int {
	if a.Type == AttributeLongList {
		return len(a.Data) - extension
	}
	return len(a.Data)
}

// bigUint decodes 1–8 octets, the lowest first.
func bigUint(p []byte) uint64 {
	var wide [8]byte
	copy(wide[:], p)
	return binary.LittleEndian.Uint64(wide[:])
}
