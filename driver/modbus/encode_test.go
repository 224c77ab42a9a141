package modbus

import (
	"strings"
	"testing"

	"voltbus/point"
)

func TestWhatARegisterCanHoldIsKnownWithoutTheDevice(t *testing.T) {
	entries := []Entry{
		{Name: "temp", Address: "1", Type: "int16", Scale: "0.1", Writable: "true"},
		{Name: "count", Address: "2", Type: "uint16", Writable: "true"},
		{Name: "wide", Address: "3", Type: "float32", Writable: "true"},
		{Name: "run", Address: "5", Type: "bool", Writable: "true"},
		{Name: "mode", Address: "6", Type: "uint16", Bit: "4-7", Writable: "true"},
		{Name: "name", Address: "7", Type: "string[4]", Writable: "true"},
		{Name: "exponent", Address: "9", Type: "int16"},
		{Name: "scaled", Address: "10", Type: "int16", Transform: "scale_reg_pow_10(exponent)", Writable: "true"},
	}
	c := NewConfig()
	c.Registry.Entries = entries
	c.compile()
	if len(c.problems) > 0 {
		t.Fatal(c.problems)
	}
	for _, tt := range []struct {
		name  string
		value point.Value
		want  point.Value
		words string // of the error
	}{
		{"temp", point.FloatOf(19.77), point.FloatOf(19.8), ""},
		{"temp", point.FloatOf(99999), point.Value{}, "from -3276.8 to 3276.7"},
		{"temp", point.FloatOf(-3276.8), point.FloatOf(-3276.8), ""},
		{"count", point.IntOf(65535), point.IntOf(65535), ""},
		{"count", point.IntOf(-1), point.Value{}, "0 to 65535"},
		{"wide", point.FloatOf(0.1), point.FloatOf(float64(float32(0.1))), ""},
		{"wide", point.FloatOf(1e300), point.Value{}, "does not fit"},
		{"run", point.BoolOf(true), point.BoolOf(true), ""},
		{"mode", point.IntOf(15), point.IntOf(15), ""},
		{"mode", point.IntOf(16), point.Value{}, "0 to 15"},
		{"name", point.TextOf("abcd"), point.TextOf("abcd"), ""},
		{"name", point.TextOf("abcde"), point.Value{}, "at most 4"},
		{"exponent", point.IntOf(99999), point.IntOf(99999), ""}, // nobody writes it
		{"scaled", point.IntOf(99999), point.IntOf(99999), ""},   // only the device knows
	} {
		place := -1
		for i := range entries {
			if entries[i].Name == tt.name {
				place = i
			}
		}
		got, err := c.Encode(place, tt.value)
		switch {
		case tt.words == "" && (err != nil || got.String() != tt.want.String()):
			t.Errorf("%s takes %v as %v, %v, want %v", tt.name, tt.value, got, err, tt.want)
		case tt.words != "" && (err == nil || !strings.Contains(err.Error(), tt.words)):
			t.Errorf("%s takes %v as %v, %v, want an error with %q", tt.name, tt.value, got, err, tt.words)
		}
	}
}
