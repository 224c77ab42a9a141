package encoding_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

func octets(t testing.TB, text string) []byte {
	t.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The examples of clauses 20.2.2 to 20.2.14, under application tags.
var applicationTagged = []struct {
	name  string
	wire  string
	value encoding.Value
	text  string
}{
	{"20.2.2 null", "00", encoding.Null(), "null"},
	{"20.2.3 false", "10", encoding.Boolean(false), "false"},
	{"20.2.3 true", "11", encoding.Boolean(true), "true"},
	{"20.2.4 an unsigned integer", "21 48", encoding.Unsigned(72), "72"},
	{"20.2.4 an unsigned integer of five octets", "25 05 01 00 00 00 00", encoding.Unsigned(1 << 32), "4294967296"},
	{"20.2.5 a signed integer", "31 48", encoding.Signed(72), "72"},
	{"20.2.5 a negative integer", "31 80", encoding.Signed(-128), "-128"},
	{"20.2.5 a negative integer of two octets", "32 FF 7F", encoding.Signed(-129), "-129"},
	{"20.2.6 a real", "44 42 90 00 00", encoding.Real(72), "72"},
	{"20.2.7 a double", "55 08 40 52 00 00 00 00 00 00", encoding.Double(72), "72"},
	{"20.2.8 octets", "63 12 34 FF", encoding.OctetString([]byte{0x12, 0x34, 0xFF}), "1234FF"},
	{"20.2.9 a text", "75 19 00 54 68 69 73 20 69 73 20 61 20 42 41 43 6E 65 74 20 73 74 72 69 6E 67 21", encoding.Text("This is a BACnet string!"), "This is a BACnet string!"},
	{"20.2.9 a text that is not ASCII", "75 0A 00 46 72 61 6E C3 A7 61 69 73", encoding.Text("Français"), "Français"},
	{"20.2.10 bits", "82 03 A8", encoding.BitStringValue(encoding.Bits(true, false, true, false, true)), "10101"},
	{"20.2.10 no bits", "81 00", encoding.BitStringValue(encoding.Bits()), ""},
	{"20.2.11 an enumerated value", "91 00", encoding.Enumerated(enum.AnalogInput), "0"},
	{"20.2.12 a date", "A4 5B 01 18 05", encoding.DateValue(encoding.Date{Year: 91, Month: 1, Day: 24, Weekday: 5}), "1991-01-24"},
	{"20.2.13 a time", "B4 11 23 2D 11", encoding.TimeValue(encoding.Time{Hour: 17, Minute: 35, Second: 45, Hundredths: 17}), "17:35:45.17"},
	{"20.2.14 an object identifier", "C4 00 C0 00 0F", encoding.ObjectIDValue(encoding.ObjectID{Type: enum.BinaryInput, Instance: 15}), "binary-input:15"},
	{"20.2.1.4 a reserved tag", "D1 07", encoding.Raw([]byte{0xD1, 0x07}), "D107"},
	{"20.2.1.3.2 constructed data", "3E 21 01 3E 10 3F 3F", encoding.Raw([]byte{0x3E, 0x21, 0x01, 0x3E, 0x10, 0x3F, 0x3F}), "3E21013E103F3F"},
}

func TestValuesUnderApplicationTags(t *testing.T) {
	for _, tt := range applicationTagged {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			got, err := encoding.Any(wire).One()
			if err != nil || got != tt.value {
				t.Errorf("read %v of kind %v (%v), want %v", got, got.Kind(), err, tt.value)
			}
			if got := encoding.Encode(tt.value); !bytes.Equal(got, wire) {
				t.Errorf("wrote % X, want % X", []byte(got), wire)
			}
			if got := tt.value.String(); got != tt.text {
				t.Errorf("shown as %q, want %q", got, tt.text)
			}
		})
	}
}

// The examples of clause 20.2.15 and the context tagged ones of the types.
func TestValuesUnderContextTags(t *testing.T) {
	for _, tt := range []struct {
		name  string
		wire  string
		tag   int
		value encoding.Value
		read  func(d *encoding.Decoder, tag int) encoding.Value
	}{
		{"null", "38", 3, encoding.Null(), func(d *encoding.Decoder, tag int) encoding.Value { d.Null(tag); return encoding.Null() }},
		{"a boolean", "69 00", 6, encoding.Boolean(false), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Boolean(d.Boolean(tag)) }},
		{"an unsigned integer", "0A 01 00", 0, encoding.Unsigned(256), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Unsigned(d.Unsigned(tag)) }},
		{"a signed integer", "59 B8", 5, encoding.Signed(-72), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Signed(d.Signed(tag)) }},
		{"a real", "0C C2 05 33 33", 0, encoding.Real(-33.3), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Real(d.Real(tag)) }},
		{"a double", "1D 08 C0 40 A6 66 66 66 66 66", 1, encoding.Double(-33.3), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Double(d.Double(tag)) }},
		{"octets", "1A 43 21", 1, encoding.OctetString([]byte{0x43, 0x21}), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.OctetString(d.Octets(tag)) }},
		{"a text", "5D 09 00 73 74 72 69 6E 67 21 21", 5, encoding.Text("string!!"), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Text(d.Text(tag)) }},
		{"bits", "0A 03 A8", 0, encoding.BitStringValue(encoding.Bits(true, false, true, false, true)), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.BitStringValue(d.Bits(tag)) }},
		{"an enumerated value", "99 00", 9, encoding.Enumerated(uint8(0)), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Enumerated(d.Enumerated(tag)) }},
		{"a date", "9C 5B 01 18 04", 9, encoding.DateValue(encoding.Date{Year: 91, Month: 1, Day: 24, Weekday: 4}), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.DateValue(d.Date(tag)) }},
		{"a time", "4C 11 23 2D 11", 4, encoding.TimeValue(encoding.Time{Hour: 17, Minute: 35, Second: 45, Hundredths: 17}), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.TimeValue(d.Time(tag)) }},
		{"an object identifier", "4C 00 C0 00 0F", 4, encoding.ObjectIDValue(encoding.ObjectID{Type: enum.BinaryInput, Instance: 15}), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.ObjectIDValue(d.ObjectID(tag)) }},
		{"20.2.1.2 a tag above 14", "F9 21 48", 33, encoding.Unsigned(72), func(d *encoding.Decoder, tag int) encoding.Value { return encoding.Unsigned(d.Unsigned(tag)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			wire := octets(t, tt.wire)
			d := encoding.NewDecoder(wire)
			if !d.Has(tt.tag) {
				t.Errorf("the tag %d is not seen", tt.tag)
			}
			if got := tt.read(d, tt.tag); got != tt.value || d.End() != nil {
				t.Errorf("read %v (%v), want %v", got, d.End(), tt.value)
			}
			if got := tt.value.Append(nil, tt.tag); !bytes.Equal(got, wire) {
				t.Errorf("wrote % X, want % X", got, wire)
			}
		})
	}
}

func TestLengthsOfTags(t *testing.T) { // clause 20.2.1.3.1
	for _, tt := range []struct {
		length int
		head   string
	}{{4, "64"}, {5, "65 05"}, {253, "65 FD"}, {254, "65 FE 00 FE"}, {65535, "65 FE FF FF"}, {65536, "65 FF 00 01 00 00"}} {
		wire := encoding.AppendOctets(nil, encoding.App, make([]byte, tt.length))
		if head := octets(t, tt.head); !bytes.HasPrefix(wire, head) || len(wire) != len(head)+tt.length {
			t.Errorf("%d octets begin with % X, want % X", tt.length, wire[:8], head)
		}
		if v, err := encoding.Any(wire).One(); err != nil || len(v.Text()) != tt.length {
			t.Errorf("read %d octets (%v), want %d", len(v.Text()), err, tt.length)
		}
	}
}

func TestCharacterSets(t *testing.T) { // clause 20.2.9
	for name, tt := range map[string]struct{ wire, want string }{
		"UCS-2":                            {"75 07 04 00 46 20 AC 00 E7", "F€ç"},
		"UCS-2 with a surrogate pair":      {"75 05 04 D8 3D DE 00", "😀"},
		"UCS-4":                            {"75 05 03 00 01 F6 00", "😀"},
		"ISO 8859-1":                       {"75 05 05 46 E7 B0 43", "Fç°C"},
		"DBCS with a code page":            {"75 05 01 03 52 46 47", "FG"},
		"JIS, of which ASCII is read":      {"74 02 46 8E 47", "F\uFFFDG"},
		"Latin-1 that is labelled UTF-8":   {"74 00 32 B0 43", "2°C"},
		"an empty text":                    {"71 00", ""},
		"UCS-2 with half of a character":   {"74 04 00 46 00", "F"},
		"a code point that does not exist": {"75 05 03 00 FF FF FF", "\uFFFD"},
	} {
		if v, err := encoding.Any(octets(t, tt.wire)).One(); err != nil || v.Text() != tt.want {
			t.Errorf("%s: read %q (%v), want %q", name, v.Text(), err, tt.want)
		}
	}
}

func TestDateAndTime(t *testing.T) {
	wire := octets(t, "0E A4 5B 01 18 04 B4 11 23 2D 11 0F") // clause 20.2.15, BACnetDateTime [0]
	want := encoding.DateTime{
		Date: encoding.Date{Year: 91, Month: 1, Day: 24, Weekday: 4},
		Time: encoding.Time{Hour: 17, Minute: 35, Second: 45, Hundredths: 17},
	}
	d := encoding.NewDecoder(wire)
	if got := d.DateTime(0); got != want || d.End() != nil {
		t.Errorf("read %v (%v), want %v", got, d.End(), want)
	}
	if got := encoding.AppendDateTime(nil, 0, want); !bytes.Equal(got, wire) {
		t.Errorf("wrote % X, want % X", got, wire)
	}
}
