package encoding

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Kind is the type of a [Value].
type Kind uint8

// The kinds of a value: the application types in the order of their tags, and Raw for what has
// a context tag, is constructed or has a reserved tag.
const (
	KindNull Kind = iota
	KindBoolean
	KindUnsigned
	KindSigned
	KindReal
	KindDouble
	KindOctetString
	KindCharacterString
	KindBitString
	KindEnumerated
	KindDate
	KindTime
	KindObjectID
	KindRaw
)

// String returns the name of the kind as the standard's figures write it.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return strconv.Itoa(int(k))
}

var kindNames = [...]string{
	"null", "boolean", "unsigned", "signed", "real", "double", "octet string", "character string", "bit string",
	"enumerated", "date", "time", "object identifier", "constructed",
}

// Value is one element of data. It is immutable and comparable; the zero value is null.
type Value struct {
	kind Kind
	bits uint64 // numbers, dates, times and identifiers, packed
	data string // strings, and everything of KindRaw, with its tags
}

// Null returns the null value, which relinquishes a command.
func Null() Value { return Value{} }

// Boolean returns a boolean value.
func Boolean(v bool) Value {
	if v {
		return Value{kind: KindBoolean, bits: 1}
	}
	return Value{kind: KindBoolean}
}

// Unsigned returns an unsigned integer.
func Unsigned(v uint64) Value { return Value{kind: KindUnsigned, bits: v} }

// Signed returns a signed integer.
func Signed(v int64) Value { return Value{kind: KindSigned, bits: uint64(v)} }

// Real returns a real of four octets.
func Real(v float32) Value { return Value{kind: KindReal, bits: uint64(math.Float32bits(v))} }

// Double returns a real of eight octets.
func Double(v float64) Value { return Value{kind: KindDouble, bits: math.Float64bits(v)} }

// OctetString returns octets.
func OctetString(v []byte) Value { return Value{kind: KindOctetString, data: string(v)} }

// Text returns a character string.
func Text(v string) Value { return Value{kind: KindCharacterString, data: v} }

// BitStringValue returns a bit string.
func BitStringValue(v BitString) Value {
	return Value{kind: KindBitString, bits: uint64(v.unused), data: v.octets}
}

// Enumerated returns an enumerated value.
func Enumerated[T ~uint8 | ~uint16 | ~uint32](v T) Value {
	return Value{kind: KindEnumerated, bits: uint64(v)}
}

// DateValue returns a date.
func DateValue(v Date) Value {
	return Value{kind: KindDate, bits: toUint([]byte{v.Year, v.Month, v.Day, v.Weekday})}
}

// TimeValue returns a time of day.
func TimeValue(v Time) Value {
	return Value{kind: KindTime, bits: toUint([]byte{v.Hour, v.Minute, v.Second, v.Hundredths})}
}

// ObjectIDValue returns an object identifier.
func ObjectIDValue(v ObjectID) Value { return Value{kind: KindObjectID, bits: uint64(v.packed())} }

// Raw returns an element that is encoded already, with its tags.
func Raw(encoded []byte) Value { return Value{kind: KindRaw, data: string(encoded)} }

// Kind returns the type of the value.
func (v Value) Kind() Kind { return v.kind }

// Uint returns a boolean, unsigned or enumerated value, otherwise 0.
func (v Value) Uint() uint64 {
	switch v.kind {
	case KindBoolean, KindUnsigned, KindEnumerated:
		return v.bits
	default:
		return 0
	}
}

// Float returns any number as a float: a boolean is 0 or 1. False for other kinds.
func (v Value) Float() (float64, bool) {
	switch v.kind {
	case KindBoolean, KindUnsigned, KindEnumerated:
		return float64(v.bits), true
	case KindSigned:
		return float64(int64(v.bits)), true
	case KindReal:
		return float64(math.Float32frombits(uint32(v.bits))), true
	case KindDouble:
		return math.Float64frombits(v.bits), true
	default:
		return 0, false
	}
}

// Int returns a signed value, otherwise 0.
func (v Value) Int() int64 {
	if v.kind == KindSigned {
		return int64(v.bits)
	}
	return 0
}

// Text returns a character string, or the octets of an octet string or of raw data.
func (v Value) Text() string {
	switch v.kind {
	case KindCharacterString, KindOctetString, KindRaw:
		return v.data
	default:
		return ""
	}
}

// Bits returns a bit string, otherwise an empty one.
func (v Value) Bits() BitString {
	if v.kind != KindBitString {
		return BitString{}
	}
	return BitString{octets: v.data, unused: uint8(v.bits)}
}

// Date returns a date, otherwise the zero date.
func (v Value) Date() Date {
	if v.kind != KindDate {
		return Date{}
	}
	return Date{uint8(v.bits >> 24), uint8(v.bits >> 16), uint8(v.bits >> 8), uint8(v.bits)}
}

// Time returns a time of day, otherwise midnight.
func (v Value) Time() Time {
	if v.kind != KindTime {
		return Time{}
	}
	return Time{uint8(v.bits >> 24), uint8(v.bits >> 16), uint8(v.bits >> 8), uint8(v.bits)}
}

// ObjectID returns an object identifier, otherwise analog-input:0.
func (v Value) ObjectID() ObjectID {
	if v.kind != KindObjectID {
		return ObjectID{}
	}
	return unpackObjectID(uint32(v.bits))
}

// String returns the value for people; raw data in hexadecimal.
func (v Value) String() string {
	switch v.kind {
	case KindNull:
		return "null"
	case KindBoolean:
		return strconv.FormatBool(v.bits != 0)
	case KindReal:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v.bits))), 'g', -1, 32)
	case KindSigned:
		return strconv.FormatInt(int64(v.bits), 10)
	case KindDouble:
		return strconv.FormatFloat(math.Float64frombits(v.bits), 'g', -1, 64)
	case KindOctetString, KindRaw:
		return strings.ToUpper(hex.EncodeToString([]byte(v.data)))
	case KindCharacterString:
		return v.data
	case KindBitString:
		return v.Bits().String()
	case KindDate:
		return v.Date().String()
	case KindTime:
		return v.Time().String()
	case KindObjectID:
		return v.ObjectID().String()
	default:
		return strconv.FormatUint(v.bits, 10)
	}
}

// Append writes the value: with App under the application tag of its type, otherwise under the
// context tag. Raw data is written as it is.
func (v Value) Append(b []byte, tag int) []byte {
	switch v.kind {
	case KindNull:
		return AppendNull(b, tag)
	case KindBoolean:
		return AppendBoolean(b, tag, v.bits != 0)
	case KindSigned:
		return AppendSigned(b, tag, int64(v.bits))
	case KindReal:
		return AppendReal(b, tag, math.Float32frombits(uint32(v.bits)))
	case KindDouble:
		return AppendDouble(b, tag, math.Float64frombits(v.bits))
	case KindOctetString:
		return AppendOctets(b, tag, v.data)
	case KindCharacterString:
		return AppendText(b, tag, v.data)
	case KindBitString:
		return AppendBits(b, tag, v.Bits())
	case KindDate:
		return AppendDate(b, tag, v.Date())
	case KindTime:
		return AppendTime(b, tag, v.Time())
	case KindObjectID:
		return AppendObjectID(b, tag, v.ObjectID())
	case KindRaw:
		return append(b, v.data...)
	default:
		return appendUint(b, tag, int(v.kind), v.bits)
	}
}

// Value reads the next element, whatever it is.
func (d *Decoder) Value() Value {
	t, ok := d.Peek()
	if !ok || t.Context || t.Number > tagObjectID {
		return Raw(d.skip())
	}
	switch kind := Kind(t.Number); kind {
	case KindNull:
		d.Null(App)
		return Null()
	case KindBoolean:
		return Boolean(d.Boolean(App))
	case KindUnsigned:
		return Unsigned(d.Unsigned(App))
	case KindSigned:
		return Signed(d.Signed(App))
	case KindReal:
		return Real(d.Real(App))
	case KindDouble:
		return Double(d.Double(App))
	case KindOctetString:
		return OctetString(d.Octets(App))
	case KindCharacterString:
		return Text(d.Text(App))
	case KindBitString:
		return BitStringValue(d.Bits(App))
	case KindEnumerated:
		return Enumerated(d.Enumerated(App))
	case KindDate:
		return DateValue(d.Date(App))
	case KindTime:
		return TimeValue(d.Time(App))
	default:
		return ObjectIDValue(d.ObjectID(App))
	}
}

// Any is encoded data of a type that the context decides, such as the value of a property. It
// may be empty: a list without elements.
type Any []byte

// Encode returns values one after the other.
func Encode(values ...Value) Any {
	var b []byte
	for _, v := range values {
		b = v.Append(b, App)
	}
	return b
}

// Values returns the elements at the top. Constructed data is one value of KindRaw.
func (a Any) Values() ([]Value, error) {
	d := NewDecoder(a)
	var values []Value
	for d.More() {
		values = append(values, d.Value())
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	return values, nil
}

// One returns the only element.
func (a Any) One() (Value, error) {
	d := NewDecoder(a)
	v := d.Value()
	if err := d.End(); err != nil {
		return Value{}, fmt.Errorf("read a single value: %w", err)
	}
	return v, nil
}
