package encoding_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
)

func TestMalformedDataIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		wire string
		want error
	}{
		"nothing":                            {"", encoding.ErrTruncated},
		"a tag without its number":           {"F1", encoding.ErrTruncated},
		"the reserved tag number 255":        {"F9 FF 00", encoding.ErrTag},
		"an application tag that opens":      {"26 00", encoding.ErrTag},
		"a length that is cut":               {"65 FE 01", encoding.ErrTruncated},
		"a length beyond the data":           {"65 FF FF FF FF FF 00", encoding.ErrTruncated},
		"a real of three octets":             {"43 00 00 00", encoding.ErrLength},
		"an unsigned integer without octets": {"20", encoding.ErrLength},
		"an unsigned integer of nine octets": {"25 09 01 02 03 04 05 06 07 08 09", encoding.ErrLength},
		"a boolean of two":                   {"12", encoding.ErrLength},
		"a null with content":                {"01 00", encoding.ErrLength},
		"bits without a count":               {"80", encoding.ErrLength},
		"bits with eight unused":             {"82 08 FF", encoding.ErrLength},
		"unused bits of nothing":             {"81 03", encoding.ErrLength},
		"a text without a character set":     {"70", encoding.ErrLength},
		"constructed data without an end":    {"3E 21 01", encoding.ErrTruncated},
		"an end without constructed data":    {"3F", encoding.ErrTag},
		"data after the value":               {"21 01 21 02", encoding.ErrTrailing},
	} {
		t.Run(name, func(t *testing.T) {
			if v, err := encoding.Any(octets(t, tt.wire)).One(); !errors.Is(err, tt.want) {
				t.Errorf("read %v with the error %v, want %v", v, err, tt.want)
			}
		})
	}
}

func TestNestingIsBounded(t *testing.T) {
	nest := func(n int) []byte {
		return append(bytes.Repeat([]byte{0x0E}, n), bytes.Repeat([]byte{0x0F}, n)...)
	}
	if _, err := encoding.Any(nest(encoding.MaxDepth)).One(); err != nil {
		t.Errorf("nesting of %d is refused: %v", encoding.MaxDepth, err)
	}
	if _, err := encoding.Any(nest(encoding.MaxDepth + 1)).One(); !errors.Is(err, encoding.ErrDepth) {
		t.Errorf("deeper nesting gives %v, want %v", err, encoding.ErrDepth)
	}
}

func TestNestingWithoutAnEndIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		wire []byte
		want error
	}{
		"as deep as is taken":          {bytes.Repeat([]byte{0x0E}, encoding.MaxDepth), encoding.ErrTruncated},
		"a message full of beginnings": {bytes.Repeat([]byte{0x0E}, 1476), encoding.ErrDepth},
		"the ends of one are missing":  {octets(t, "3E 2E 21 01 2F"), encoding.ErrTruncated},
		"the end of another":           {octets(t, "3E 21 01 2F"), encoding.ErrTag},
	} {
		if v, err := encoding.Any(tt.wire).One(); !errors.Is(err, tt.want) {
			t.Errorf("%s: read %v with the error %v, want %v", name, v, err, tt.want)
		}
	}
}

func TestValuesCutAtEveryOctetAreRefusedOrSmaller(t *testing.T) {
	var all []encoding.Value
	for _, tt := range applicationTagged {
		all = append(all, tt.value)
	}
	wire := encoding.Encode(all...)
	for n := range wire {
		values, err := wire[:n].Values()
		if err == nil && len(values) >= len(all) {
			t.Errorf("%d of %d octets gave all values", n, len(wire))
		}
	}
}

func TestPatternsOfDatesMatch(t *testing.T) { // clause 20.2.12
	day := time.Date(2024, time.February, 29, 12, 0, 0, 0, time.UTC) // a Thursday
	every := encoding.Date{Year: 255, Month: 255, Day: 255, Weekday: 255}
	with := func(change func(*encoding.Date)) encoding.Date { d := every; change(&d); return d }
	for name, tt := range map[string]struct {
		pattern encoding.Date
		want    bool
	}{
		"any day":               {every, true},
		"the date itself":       {encoding.DateOf(day), true},
		"the last of the month": {with(func(d *encoding.Date) { d.Day = 32 }), true},
		"odd days":              {with(func(d *encoding.Date) { d.Day = 33 }), true},
		"even days":             {with(func(d *encoding.Date) { d.Day = 34 }), false},
		"odd months":            {with(func(d *encoding.Date) { d.Month = 13 }), false},
		"even months":           {with(func(d *encoding.Date) { d.Month = 14 }), true},
		"Thursdays":             {with(func(d *encoding.Date) { d.Weekday = 4 }), true},
		"Sundays":               {with(func(d *encoding.Date) { d.Weekday = 7 }), false},
		"another year":          {with(func(d *encoding.Date) { d.Year = 123 }), false},
	} {
		if got := tt.pattern.Matches(day); got != tt.want {
			t.Errorf("%s: matches %v, want %v", name, got, tt.want)
		}
	}
}

func TestObjectIdentifiersAreReadFromText(t *testing.T) {
	want := encoding.ObjectID{Type: enum.AnalogInput, Instance: 3}
	for _, text := range []string{"analog-input:3", "analog-input,3", "0:3"} {
		if got, err := encoding.ParseObjectID(text); err != nil || got != want {
			t.Errorf("%q is read as %v (%v), want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"analog-input", "analog-inputs:3", "analog-input:4194304", "analog-input:-1"} {
		if got, err := encoding.ParseObjectID(text); err == nil {
			t.Errorf("%q is read as %v without an error", text, got)
		}
	}
}

// FuzzValues reads any data: what is accepted must survive writing and reading.
func FuzzValues(f *testing.F) {
	for _, tt := range applicationTagged {
		f.Add(octets(f, tt.wire))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		values, err := encoding.Any(data).Values()
		if err != nil {
			return
		}
		again, err := encoding.Encode(values...).Values()
		if err != nil || len(again) != len(values) {
			t.Fatalf("%v was written and read as %v: %v", values, again, err)
		}
		for i, v := range values {
			if again[i] != v {
				t.Errorf("%v was written and read as %v", v, again[i])
			}
		}
	})
}
