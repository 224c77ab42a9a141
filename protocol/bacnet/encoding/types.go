package encoding

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"voltbus/protocol/bacnet/enum"
)

// MaxInstance is the greatest instance of an object that exists; 4194303 means "none" or "any"
// (clause 20.2.14).
const MaxInstance = 0x3FFFFE

// ObjectID identifies an object within a device (clause 20.2.14).
type ObjectID struct {
	Type     enum.ObjectType // 0–1023
	Instance uint32          // 0–4194303
}

// String returns type and instance, such as analog-input:3.
func (o ObjectID) String() string {
	return o.Type.String() + ":" + strconv.FormatUint(uint64(o.Instance), 10)
}

// ParseObjectID reads what String writes; a comma is as good as a colon.
func ParseObjectID(text string) (ObjectID, error) {
	kind, instance, ok := strings.Cut(strings.ReplaceAll(text, ",", ":"), ":")
	if !ok {
		return ObjectID{}, fmt.Errorf("object %q: write type and instance, such as analog-input:3", text)
	}
	t, err := enum.ParseObjectType(kind)
	if err != nil {
		return ObjectID{}, err
	}
	n, err := strconv.ParseUint(instance, 10, 32)
	if err != nil || n > MaxInstance+1 {
		return ObjectID{}, fmt.Errorf("object %q: write an instance from 0 to %d", text, MaxInstance)
	}
	return ObjectID{Type: t, Instance: uint32(n)}, nil
}

func (o ObjectID) packed() uint32 { return uint32(o.Type)<<22 | o.Instance&0x3FFFFF }

func unpackObjectID(n uint32) ObjectID {
	return ObjectID{Type: enum.ObjectType(n >> 22), Instance: n & 0x3FFFFF}
}

// Wildcard is the value of a field of a date or time that is not specified.
const Wildcard = 0xFF

// Date is a date or a pattern of dates (clause 20.2.12).
type Date struct {
	Year    uint8 // since 1900; Wildcard: any
	Month   uint8 // 1–12; 13: odd months, 14: even months; Wildcard: any
	Day     uint8 // 1–31; 32: last day, 33: odd days, 34: even days; Wildcard: any
	Weekday uint8 // 1 Monday – 7 Sunday; Wildcard: any
}

// DateOf returns the date of a time, in the time's own zone.
func DateOf(t time.Time) Date {
	day := uint8(t.Weekday())
	if day == 0 {
		day = 7
	}
	return Date{Year: uint8(t.Year() - 1900), Month: uint8(t.Month()), Day: uint8(t.Day()), Weekday: day}
}

// Matches reports whether the day of t fits the pattern.
func (d Date) Matches(t time.Time) bool {
	on := DateOf(t)
	last := t.AddDate(0, 0, 1).Month() != t.Month()
	return (d.Year == Wildcard || d.Year == on.Year) &&
		matchesMonth(d.Month, on.Month) && matchesDay(d.Day, on.Day, last) &&
		(d.Weekday == Wildcard || d.Weekday == on.Weekday)
}

func matchesMonth(pattern, month uint8) bool {
	switch pattern {
	case Wildcard:
		return true
	case 13:
		return month%2 == 1
	case 14:
		return month%2 == 0
	}
	return pattern == month
}

func matchesDay(pattern, day uint8, last bool) bool {
	switch pattern {
	case Wildcard:
		return true
	case 32:
		return last
	case 33:
		return day%2 == 1
	case 34:
		return day%2 == 0
	}
	return pattern == day
}

// String returns the date as year-month-day, with * for what is not specified.
func (d Date) String() string {
	year := "*"
	if d.Year != Wildcard {
		year = strconv.Itoa(1900 + int(d.Year))
	}
	text := year + "-" + field(d.Month) + "-" + field(d.Day)
	if d.Year == Wildcard && d.Weekday >= 1 && d.Weekday <= 7 {
		text += " " + time.Weekday(d.Weekday%7).String()
	}
	return text
}

// Time is a time of day or a pattern (clause 20.2.13), in the device's local time.
type Time struct {
	Hour, Minute, Second, Hundredths uint8 // Wildcard: any
}

// TimeOf returns the time of day, in the time's own zone.
func TimeOf(t time.Time) Time {
	return Time{uint8(t.Hour()), uint8(t.Minute()), uint8(t.Second()), uint8(t.Nanosecond() / 10_000_000)}
}

// String returns the time as 15:04:05.00, with * for what is not specified.
func (t Time) String() string {
	return field(t.Hour) + ":" + field(t.Minute) + ":" + field(t.Second) + "." + field(t.Hundredths)
}

func field(n uint8) string {
	if n == Wildcard {
		return "*"
	}
	return fmt.Sprintf("%02d", n)
}

// DateTime is a date and a time (clause 21, BACnetDateTime).
type DateTime struct {
	Date Date
	Time Time
}

// In returns the instant in a zone; false if a field is not specified or has no such value.
func (d DateTime) In(zone *time.Location) (time.Time, bool) {
	if d.Date.Year == Wildcard || d.Date.Month < 1 || d.Date.Month > 12 || d.Date.Day < 1 || d.Date.Day > 31 ||
		d.Time.Hour > 23 || d.Time.Minute > 59 || d.Time.Second > 59 {
		return time.Time{}, false
	}
	hundredths := int(d.Time.Hundredths)
	if hundredths > 99 {
		hundredths = 0
	}
	return time.Date(1900+int(d.Date.Year), time.Month(d.Date.Month), int(d.Date.Day), int(d.Time.Hour),
		int(d.Time.Minute), int(d.Time.Second), hundredths*10_000_000, zone), true
}

// String returns date and time with a blank between them.
func (d DateTime) String() string { return d.Date.String() + " " + d.Time.String() }

// BitString is a sequence of bits, the first bit leftmost (clause 20.2.10). It is comparable.
type BitString struct {
	octets string
	unused uint8 // bits of the last octet that do not count
}

// Bits makes a bit string.
func Bits(bits ...bool) BitString {
	octets := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		if bit {
			octets[i/8] |= 0x80 >> (i % 8)
		}
	}
	return BitString{octets: string(octets), unused: uint8(len(octets)*8 - len(bits))}
}

// Len returns the number of bits.
func (b BitString) Len() int { return len(b.octets)*8 - int(b.unused) }

// Bit returns bit i; bits beyond the end are false.
func (b BitString) Bit(i int) bool {
	return i >= 0 && i < b.Len() && b.octets[i/8]&(0x80>>(i%8)) != 0
}

// String returns the bits as digits, such as 0100.
func (b BitString) String() string {
	text := make([]byte, b.Len())
	for i := range text {
		text[i] = '0'
		if b.Bit(i) {
			text[i] = '1'
		}
	}
	return string(text)
}
