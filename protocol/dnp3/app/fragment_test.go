package app_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"voltbus/protocol/dnp3/app"
)

func octets(tb testing.TB, text string) []byte {
	tb.Helper()
	p, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// headers parses a fragment that must be sound.
func headers(tb testing.TB, text string) []app.Header {
	tb.Helper()
	fragment, err := app.Parse(octets(tb, text))
	if err != nil {
		tb.Fatal(err)
	}
	var all []app.Header
	for h, err := range fragment.Headers() {
		if err != nil {
			tb.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

func TestTheHeadOfAFragmentIsRead(t *testing.T) {
	cases := []struct {
		name, wire string
		want       app.Fragment
	}{
		{"a read request", "C3 01 3C 01 06", app.Fragment{Control: 0xC3, Function: app.FuncRead, Objects: []byte{0x3C, 1, 6}}},
		{"a confirmation of an unsolicited response", "D5 00", app.Fragment{Control: 0xD5, Function: app.FuncConfirm}},
		{"a response after a restart", "C0 81 80 00", app.Fragment{Control: 0xC0, Function: app.FuncResponse, IIN: app.IINDeviceRestart}},
		{"a response that refuses a parameter", "C7 81 00 04", app.Fragment{Control: 0xC7, Function: app.FuncResponse, IIN: app.IINParameterError}},
		{"a null unsolicited response", "F0 82 00 00", app.Fragment{Control: 0xF0, Function: app.FuncUnsolicitedResponse}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			got, err := app.Parse(octets(t, tc.wire))
			if err != nil {
				t.Fatal(err)
			}
			if got.Control != tc.want.Control || got.Function != tc.want.Function || got.IIN != tc.want.IIN ||
				string(got.Objects) != string(tc.want.Objects) {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestUnreadableFragmentsSayWhatIsWrongAndWhere(t *testing.T) {
	cases := []struct {
		name, wire, want string
		iin              app.IIN
	}{
		{"no octets", "", "truncated at octet 0: 2 octets needed, 0 left", app.IINParameterError},
		{"a control octet alone", "C0", "truncated at octet 0: 2 octets needed, 1 left", app.IINParameterError},
		{"an unassigned function", "C0 22", "unknown function at octet 1", app.IINNoFunction},
		{"half the internal indications", "C0 81 00", "truncated at octet 2: 2 octets needed, 1 left", app.IINParameterError},
		{"half an object header", "C0 01 3C 01", "truncated at octet 2: 3 octets needed, 2 left", app.IINParameterError},
		{"an unknown group", "C0 01 FE 01 06", "g254v1 qualifier 0x06: unknown object at octet 2", app.IINObjectUnknown},
		{"an unknown variation", "C0 01 1E 07 06", "g30v7 qualifier 0x06: unknown object at octet 2", app.IINObjectUnknown},
		{"an obsolete variation", "C0 01 14 03 06", "g20v3 qualifier 0x06: unknown object at octet 2", app.IINObjectUnknown},
		{"an unassigned qualifier", "C0 01 1E 01 0A", "g30v1 qualifier 0x0A: qualifier not allowed at octet 2", app.IINParameterError},
		{"the reserved bit of a qualifier", "C0 01 1E 01 86", "g30v1 qualifier 0x86: qualifier not allowed at octet 2", app.IINParameterError},
		{"an index prefix with a range", "C0 01 1E 01 10 00 01", "g30v1 qualifier 0x10: qualifier not allowed at octet 2", app.IINParameterError},
		{"a size prefix with a count", "C0 01 1E 01 57 01", "g30v1 qualifier 0x57: qualifier not allowed at octet 2", app.IINParameterError},
		{"free format for points", "C0 01 1E 01 5B 01 01 00 00", "g30v1 qualifier 0x5B: qualifier not allowed at octet 2", app.IINParameterError},
		{"a range without its stop", "C0 01 1E 01 00 05", "g30v1 qualifier 0x00: truncated at octet 5: 2 octets needed, 1 left", app.IINParameterError},
		{"a stop before the start", "C0 01 1E 01 00 05 04", "g30v1 qualifier 0x00: impossible range or count at octet 2", app.IINParameterError},
		{"all objects with values", "C0 81 00 00 1E 01 06", "g30v1 qualifier 0x06: qualifier not allowed at octet 4", app.IINParameterError},
		{"values of no variation", "C0 81 00 00 1E 00 00 00 00", "g30v0 qualifier 0x00: malformed object at octet 4", app.IINParameterError},
		{"packed bits behind indexes", "C0 81 00 00 01 01 17 01 00 01", "g1v1 qualifier 0x17: qualifier not allowed at octet 4", app.IINParameterError},
		{"a file object without free format", "C0 19 46 03 07 01", "", 0},
		{
			"a value one octet short", "C0 81 00 00 1E 02 00 03 03 01 05",
			"g30v2 qualifier 0x00: truncated at octet 9: 3 octets needed, 2 left", app.IINParameterError,
		},
		{
			"2^32 values in a small message", "C0 81 00 00 1E 01 02 00 00 00 00 FF FF FF FF 01",
			"g30v1 qualifier 0x02: truncated at octet 15: 21474836480 octets needed, 1 left", app.IINParameterError,
		},
		{
			"2^32 packed bits in a small message", "C0 81 00 00 01 01 02 00 00 00 00 FF FF FF FF 01",
			"g1v1 qualifier 0x02: truncated at octet 15: 536870912 octets needed, 1 left", app.IINParameterError,
		},
		{
			"2^32 indexes in a small request", "C0 01 1E 01 39 FF FF FF FF",
			"g30v1 qualifier 0x39: truncated at octet 9: 17179869180 octets needed, 0 left", app.IINParameterError,
		},
		{
			"2^32 empty strings in a small message", "C0 81 00 00 6E 00 02 00 00 00 00 FF FF FF FF",
			"g110v0 qualifier 0x02: impossible range or count at octet 4", app.IINParameterError,
		},
		{
			"2^32 attributes in a small message", "C0 81 00 00 00 FC 09 FF FF FF FF 01 01 41",
			"g0v252 qualifier 0x09: truncated at octet 11: 5 octets needed, 3 left", app.IINParameterError,
		},
		{
			"a file object longer than the message", "C0 19 46 08 5B 01 05 00 41",
			"g70v8 qualifier 0x5B: truncated at octet 6: 7 octets needed, 3 left", app.IINParameterError,
		},
		{
			"a second file object without its size", "C0 19 46 08 5B 02 01 00 41",
			"g70v8 qualifier 0x5B: truncated at octet 6: 5 octets needed, 3 left", app.IINParameterError,
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			fragment, err := app.Parse(octets(t, tc.wire))
			if err == nil {
				err = fragment.Check()
			}
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			var parse *app.ParseError
			if !errors.As(err, &parse) || parse.Error() != tc.want || parse.IIN() != tc.iin {
				t.Errorf("error is %v, want %s", err, tc.want)
			}
		})
	}
}

func TestHeadersBeforeAnErrorAreYielded(t *testing.T) {
	fragment, err := app.Parse(octets(t, "C0 01 3C 02 06 3C 03 06 FF FF FF 3C 04 06"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for h, err := range fragment.Headers() {
		if err != nil {
			seen = append(seen, "error")
			continue
		}
		seen = append(seen, h.Variation.String())
	}
	if got := strings.Join(seen, " "); got != "g60v2 g60v3 error" {
		t.Errorf("saw %s", got)
	}
}

func TestEveryQualifierIsRead(t *testing.T) {
	cases := []struct {
		name, wire  string
		start, stop uint32
		count       uint64
		indexes     []uint32
	}{
		{"one-octet range", "C0 01 1E 00 00 02 05", 2, 5, 4, nil},
		{"two-octet range", "C0 01 1E 00 01 02 01 05 01", 258, 261, 4, nil},
		{"four-octet range", "C0 01 1E 00 02 00 00 01 00 FF FF FF FF", 65536, 0xFFFFFFFF, 0xFFFF0000, nil},
		{"the largest range", "C0 01 1E 00 02 00 00 00 00 FF FF FF FF", 0, 0xFFFFFFFF, 1 << 32, nil},
		{"one-octet virtual addresses", "C0 01 1E 00 03 02 05", 2, 5, 4, nil},
		{"two-octet virtual addresses", "C0 01 1E 00 04 02 00 05 00", 2, 5, 4, nil},
		{"four-octet virtual addresses", "C0 01 1E 00 05 02 00 00 00 05 00 00 00", 2, 5, 4, nil},
		{"all objects", "C0 01 1E 00 06", 0, 0, 0, nil},
		{"one-octet count", "C0 01 20 00 07 0A", 0, 0, 10, nil},
		{"two-octet count", "C0 01 20 00 08 0A 01", 0, 0, 266, nil},
		{"four-octet count", "C0 01 20 00 09 0A 00 00 01", 0, 0, 0x0100000A, nil},
		{"one-octet indexes", "C0 01 1E 00 17 02 03 09", 0, 0, 2, []uint32{3, 9}},
		{"two-octet indexes", "C0 01 1E 00 28 02 00 03 00 09 01", 0, 0, 2, []uint32{3, 265}},
		{"four-octet indexes", "C0 01 1E 00 39 01 00 00 00 03 00 00 80", 0, 0, 1, []uint32{0x80000003}},
		{"a one-octet count of two-octet indexes", "C0 01 1E 00 27 01 03 01", 0, 0, 1, []uint32{259}},
		{"a one-octet count of four-octet indexes", "C0 01 1E 00 37 01 03 01 00 00", 0, 0, 1, []uint32{259}},
		{"a two-octet count of one-octet indexes", "C0 01 1E 00 18 01 00 03", 0, 0, 1, []uint32{3}},
		{"a two-octet count of four-octet indexes", "C0 01 1E 00 38 01 00 03 00 00 00", 0, 0, 1, []uint32{3}},
		{"a four-octet count of one-octet indexes", "C0 01 1E 00 19 01 00 00 00 03", 0, 0, 1, []uint32{3}},
		{"a four-octet count of two-octet indexes", "C0 01 1E 00 29 01 00 00 00 03 00", 0, 0, 1, []uint32{3}},
		{"free format with a one-octet size", "C0 1B 46 08 4B 01 01 41", 0, 0, 1, []uint32{0}},
		{"free format with a two-octet size", "C0 1B 46 08 5B 02 01 00 41 01 00 42", 0, 0, 2, []uint32{0, 1}},
		{"free format with a four-octet size", "C0 1B 46 08 6B 01 01 00 00 00 41", 0, 0, 1, []uint32{0}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			// A second header proves that the first one ended where it should.
			all := headers(t, tc.wire+" 3C 01 06")
			if len(all) != 2 {
				t.Fatalf("%d headers", len(all))
			}
			h := all[0]
			if h.Start != tc.start || h.Stop != tc.stop || h.Count != tc.count {
				t.Errorf("start %d, stop %d, count %d", h.Start, h.Stop, h.Count)
			}
			var indexes []uint32
			for o := range h.Objects() {
				indexes = append(indexes, o.Index)
			}
			if len(indexes) != len(tc.indexes) {
				t.Fatalf("indexes are %d, want %d", indexes, tc.indexes)
			}
			for i := range indexes {
				if indexes[i] != tc.indexes[i] {
					t.Errorf("indexes are %d, want %d", indexes, tc.indexes)
				}
			}
		})
	}
}

func TestFunctionsDecideWhetherValuesFollow(t *testing.T) {
	cases := []struct {
		name, wire string
		want       bool
	}{
		{"a read", "C0 01 1E 02 00 00 00", false},
		{"a write", "C0 02 22 01 00 00 00 05 00", true},
		{"a select", "C0 03 29 02 17 01 00 05 00 00", true},
		{"a freeze", "C0 07 14 00 06", false},
		{"the time of a freeze", "C0 0B 32 02 07 01 00 00 00 00 00 00 00 00 00 00", true},
		{"an assignment of classes", "C0 16 3C 02 06", false},
		{"a response", "C0 81 00 00 1E 02 00 00 00 01 00 00", true},
		{"a read of a file block", "C0 01 46 05 5B 01 08 00 01 00 00 00 00 00 00 00", true},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := headers(t, tc.wire)[0].HasValues(); got != tc.want {
				t.Errorf("values follow: %t", got)
			}
		})
	}
}

func TestCountersBehindAFreezeTimeHaveNoValues(t *testing.T) {
	all := headers(t, "C0 0B 32 02 07 01 00 00 00 00 00 00 00 00 00 00 14 00 06")
	if len(all) != 2 || !all[0].HasValues() || all[1].HasValues() {
		t.Errorf("got %+v", all)
	}
}
