package app_test

import (
	"math"
	"testing"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

func at(ms uint64) object.Timestamp {
	return object.Timestamp{Milliseconds: ms, Quality: object.TimeAbsolute}
}

const (
	online   = object.FlagOnline
	someTime = 0x060504030201
)

// wirePoints are single points of every variation as they stand behind a response
// head: current values in a range, events and commands behind an index.
var wirePoints = []struct {
	name, wire string
	variation  object.Variation
	point      object.Point
}{
	{"binary input, packed", "01 01 00 03 03 01", object.G1V1, object.Point{Index: 3, Value: object.Bool(true), Flags: online}},
	{"binary input, on and online", "01 02 00 03 03 81", object.G1V2, object.Point{Index: 3, Value: object.Bool(true), Flags: online}},
	{"binary input, off and chattering", "01 02 00 03 03 21", object.G1V2, object.Point{Index: 3, Value: object.Bool(false), Flags: online | object.FlagChatter}},
	{"binary event", "02 01 28 01 00 03 00 81", object.G2V1, object.Point{Index: 3, Value: object.Bool(true), Flags: online}},
	{"binary event with time", "02 02 28 01 00 03 00 81 01 02 03 04 05 06", object.G2V2, object.Point{Index: 3, Value: object.Bool(true), Flags: online, Time: at(someTime)}},
	{"double-bit input, packed", "03 01 00 03 03 02", object.G3V1, object.Point{Index: 3, Value: object.Double(object.DeterminedOn), Flags: online}},
	{"double-bit input, off", "03 02 00 03 03 41", object.G3V2, object.Point{Index: 3, Value: object.Double(object.DeterminedOff), Flags: online}},
	{"double-bit event", "04 01 28 01 00 03 00 C1", object.G4V1, object.Point{Index: 3, Value: object.Double(object.Indeterminate), Flags: online}},
	{"double-bit event with time", "04 02 28 01 00 03 00 01 01 02 03 04 05 06", object.G4V2, object.Point{Index: 3, Value: object.Double(object.Intermediate), Flags: online, Time: at(someTime)}},

	{"output status, packed", "0A 01 01 03 01 03 01 01", object.G10V1, object.Point{Index: 259, Value: object.Bool(true), Flags: online}},
	{"output status", "0A 02 00 03 03 80", object.G10V2, object.Point{Index: 3, Value: object.Bool(true)}},
	{"output status event", "0B 01 28 01 00 03 00 81", object.G11V1, object.Point{Index: 3, Value: object.Bool(true), Flags: online}},
	{"output status event with time", "0B 02 28 01 00 03 00 01 01 02 03 04 05 06", object.G11V2, object.Point{Index: 3, Value: object.Bool(false), Flags: online, Time: at(someTime)}},
	{"pattern mask", "0C 03 00 03 03 01", object.G12V3, object.Point{Index: 3, Value: object.Bool(true), Flags: online}},
	{"output command event", "0D 01 28 01 00 03 00 84", object.G13V1, object.Point{Index: 3, Value: object.Bool(true), Flags: online, Status: object.StatusNotSupported}},
	{"output command event with time", "0D 02 28 01 00 03 00 7F 01 02 03 04 05 06", object.G13V2, object.Point{Index: 3, Value: object.Bool(false), Flags: online, Status: object.StatusUndefined, Time: at(someTime)}},

	{"counter, 32-bit", "14 01 00 03 03 01 FF FF FF FF", object.G20V1, object.Point{Index: 3, Value: object.Unsigned(math.MaxUint32), Flags: online}},
	{"counter, 16-bit", "14 02 00 03 03 41 34 12", object.G20V2, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online | object.FlagDiscontinuity}},
	{"counter, 32-bit without flags", "14 05 00 03 03 78 56 34 12", object.G20V5, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online}},
	{"counter, 16-bit without flags", "14 06 00 03 03 34 12", object.G20V6, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online}},
	{"frozen counter, 32-bit", "15 01 00 03 03 01 78 56 34 12", object.G21V1, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online}},
	{"frozen counter, 16-bit", "15 02 00 03 03 01 34 12", object.G21V2, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online}},
	{"frozen counter, 32-bit with time", "15 05 00 03 03 01 78 56 34 12 01 02 03 04 05 06", object.G21V5, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"frozen counter, 16-bit with time", "15 06 00 03 03 01 34 12 01 02 03 04 05 06", object.G21V6, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online, Time: at(someTime)}},
	{"frozen counter, 32-bit without flags", "15 09 00 03 03 78 56 34 12", object.G21V9, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online}},
	{"frozen counter, 16-bit without flags", "15 0A 00 03 03 34 12", object.G21V10, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online}},
	{"counter event, 32-bit", "16 01 28 01 00 03 00 01 78 56 34 12", object.G22V1, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online}},
	{"counter event, 16-bit", "16 02 28 01 00 03 00 01 34 12", object.G22V2, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online}},
	{"counter event, 32-bit with time", "16 05 28 01 00 03 00 01 78 56 34 12 01 02 03 04 05 06", object.G22V5, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"counter event, 16-bit with time", "16 06 28 01 00 03 00 01 34 12 01 02 03 04 05 06", object.G22V6, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online, Time: at(someTime)}},
	{"frozen counter event, 32-bit", "17 01 28 01 00 03 00 01 78 56 34 12", object.G23V1, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online}},
	{"frozen counter event, 16-bit", "17 02 28 01 00 03 00 01 34 12", object.G23V2, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online}},
	{"frozen counter event, 32-bit with time", "17 05 28 01 00 03 00 01 78 56 34 12 01 02 03 04 05 06", object.G23V5, object.Point{Index: 3, Value: object.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"frozen counter event, 16-bit with time", "17 06 28 01 00 03 00 01 34 12 01 02 03 04 05 06", object.G23V6, object.Point{Index: 3, Value: object.Unsigned(0x1234), Flags: online, Time: at(someTime)}},

	{"analog, 32-bit", "1E 01 00 03 03 01 FE FF FF FF", object.G30V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog, 16-bit, restarted", "1E 02 00 03 03 02 FE FF", object.G30V2, object.Point{Index: 3, Value: object.Signed(-2), Flags: object.FlagRestart}},
	{"analog, 32-bit without flags", "1E 03 00 03 03 FE FF FF FF", object.G30V3, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog, 16-bit without flags", "1E 04 00 03 03 FE FF", object.G30V4, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog, single precision", "1E 05 00 03 03 01 00 00 C0 3F", object.G30V5, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog, double precision", "1E 06 00 03 03 01 00 00 00 00 00 00 F8 3F", object.G30V6, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"frozen analog, 32-bit", "1F 01 00 03 03 01 FE FF FF FF", object.G31V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"frozen analog, 16-bit", "1F 02 00 03 03 01 FE FF", object.G31V2, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"frozen analog, 32-bit with time", "1F 03 00 03 03 01 FE FF FF FF 01 02 03 04 05 06", object.G31V3, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog, 16-bit with time", "1F 04 00 03 03 01 FE FF 01 02 03 04 05 06", object.G31V4, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog, 32-bit without flags", "1F 05 00 03 03 FE FF FF FF", object.G31V5, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"frozen analog, 16-bit without flags", "1F 06 00 03 03 FE FF", object.G31V6, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"frozen analog, single precision", "1F 07 00 03 03 01 00 00 C0 3F", object.G31V7, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"frozen analog, double precision", "1F 08 00 03 03 01 00 00 00 00 00 00 F8 3F", object.G31V8, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog event, 32-bit", "20 01 28 01 00 03 00 01 FE FF FF FF", object.G32V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog event, 16-bit", "20 02 28 01 00 03 00 01 FE FF", object.G32V2, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog event, 32-bit with time", "20 03 28 01 00 03 00 01 FE FF FF FF 01 02 03 04 05 06", object.G32V3, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog event, 16-bit with time", "20 04 28 01 00 03 00 01 FE FF 01 02 03 04 05 06", object.G32V4, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog event, single precision", "20 05 28 01 00 03 00 01 00 00 C0 3F", object.G32V5, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog event, double precision", "20 06 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F", object.G32V6, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog event, single precision with time", "20 07 28 01 00 03 00 01 00 00 C0 3F 01 02 03 04 05 06", object.G32V7, object.Point{Index: 3, Value: object.Float(1.5), Flags: online, Time: at(someTime)}},
	{"analog event, double precision with time", "20 08 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F 01 02 03 04 05 06", object.G32V8, object.Point{Index: 3, Value: object.Float(1.5), Flags: online, Time: at(someTime)}},
	{"frozen analog event, 16-bit with time", "21 04 28 01 00 03 00 01 FE FF 01 02 03 04 05 06", object.G33V4, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog event, double precision", "21 06 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F", object.G33V6, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"dead-band, 16-bit", "22 01 00 03 03 FE FF", object.G34V1, object.Point{Index: 3, Value: object.Unsigned(65534), Flags: online}},
	{"dead-band, 32-bit", "22 02 00 03 03 FE FF FF FF", object.G34V2, object.Point{Index: 3, Value: object.Unsigned(4294967294), Flags: online}},
	{"dead-band, single precision", "22 03 00 03 03 00 00 C0 3F", object.G34V3, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},

	{"output status, 32-bit", "28 01 00 03 03 01 FE FF FF FF", object.G40V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"output status, 16-bit", "28 02 00 03 03 01 FE FF", object.G40V2, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"output status, single precision", "28 03 00 03 03 01 00 00 C0 3F", object.G40V3, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"output status, double precision", "28 04 00 03 03 01 00 00 00 00 00 00 F8 3F", object.G40V4, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog command, 32-bit", "29 01 28 01 00 03 00 FE FF FF FF 00", object.G41V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online}},
	{"analog command, 16-bit", "29 02 28 01 00 03 00 FE FF 0C", object.G41V2, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Status: object.StatusOutOfRange}},
	{"analog command, single precision", "29 03 28 01 00 03 00 00 00 C0 3F 00", object.G41V3, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"analog command, double precision", "29 04 28 01 00 03 00 00 00 00 00 00 00 F8 3F 00", object.G41V4, object.Point{Index: 3, Value: object.Float(1.5), Flags: online}},
	{"output status event, single precision with time", "2A 07 28 01 00 03 00 01 00 00 C0 3F 01 02 03 04 05 06", object.G42V7, object.Point{Index: 3, Value: object.Float(1.5), Flags: online, Time: at(someTime)}},
	{"analog command event, 32-bit", "2B 01 28 01 00 03 00 04 FE FF FF FF", object.G43V1, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Status: object.StatusNotSupported}},
	{"analog command event, 16-bit with time", "2B 04 28 01 00 03 00 00 FE FF 01 02 03 04 05 06", object.G43V4, object.Point{Index: 3, Value: object.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog command event, double precision with time", "2B 08 28 01 00 03 00 00 00 00 00 00 00 00 F8 3F 01 02 03 04 05 06", object.G43V8, object.Point{Index: 3, Value: object.Float(1.5), Flags: online, Time: at(someTime)}},

	{"internal indication", "50 01 00 07 07 01", object.G80V1, object.Point{Index: 7, Value: object.Bool(true), Flags: online}},
	{"unsigned integer", "66 01 00 03 03 FE", object.G102V1, object.Point{Index: 3, Value: object.Unsigned(254), Flags: online}},
}

func TestPointsOfEveryVariationAreRead(t *testing.T) {
	for _, tc := range wirePoints {
		t.Run(tc.name, func(t *testing.T) {
			all := headers(t, "C0 81 00 00"+tc.wire)
			if len(all) != 1 || all[0].Variation != tc.variation {
				t.Fatalf("headers are %+v", all)
			}
			n := 0
			for got := range all[0].Points() {
				if n++; got != tc.point {
					t.Errorf("got %+v, want %+v", got, tc.point)
				}
			}
			if n != 1 {
				t.Errorf("%d points, want 1", n)
			}
		})
	}
}

func TestPointsOfEveryVariationAreWritten(t *testing.T) {
	for _, tc := range wirePoints {
		t.Run(tc.name, func(t *testing.T) {
			w := app.NewResponse(make([]byte, 0, 64), 0xC0, app.FuncResponse, 0)
			write := w.Static
			if tc.variation.Event() || tc.variation.Kind() == object.KindAnalogCommand {
				write = w.Indexed
			}
			if err := write(tc.variation, tc.point); err != nil {
				t.Fatal(err)
			}
			if got, want := w.Bytes(), octets(t, "C0 81 00 00"+tc.wire); string(got) != string(want) {
				t.Errorf("got % X, want % X", got, want)
			}
		})
	}
}

func TestNoPointVariationIsLeftOutOfTheLiteralTests(t *testing.T) {
	// Groups 23, 33, 42 and 43 share their layouts with 22 and 32.
	shared := map[uint8]bool{23: true, 33: true, 42: true, 43: true}
	seen := map[object.Variation]bool{object.G2V3: true, object.G4V3: true}
	for _, tc := range wirePoints {
		seen[tc.variation] = true
	}
	for v := range object.Variations() {
		pointGroup := v.Group() > 0 && v.Group() < 50 && v.Number() > 0
		control := v == object.G12V1 || v == object.G12V2
		if pointGroup && !control && !shared[v.Group()] && !seen[v] {
			t.Errorf("%v (%s) has no literal test", v, v.Describe())
		}
	}
}

func TestPackedPointsFillOctetsFromTheLowestBit(t *testing.T) {
	all := headers(t, "C0 81 00 00 01 01 00 02 0B 05 02 03 01 00 00 04 E4 02")
	var bits, pairs string
	for p := range all[0].Points() {
		bits += p.Value.String()[:1]
	}
	for p := range all[1].Points() {
		pairs += string('0' + rune(p.Value.DoubleBit()))
	}
	if bits != "tftfffffft" || pairs != "01232" {
		t.Errorf("bits %s, pairs %s", bits, pairs)
	}
}

func TestRelativeTimesAddToTheCommonTimeBefore(t *testing.T) {
	all := headers(t, "C0 81 00 00"+
		"02 03 17 01 00 81 05 00"+ // no common time yet
		"33 01 07 01 E8 03 00 00 00 00"+ // 1000 ms
		"02 03 17 02 01 81 05 00 02 01 FF FF"+
		"33 02 07 01 00 00 00 00 00 01"+ // 2^40 ms, not synchronized
		"04 03 17 01 03 81 05 00")
	want := []object.Timestamp{
		{Milliseconds: 5, Quality: object.TimeBaseless},
		{Milliseconds: 1005, Quality: object.TimeAbsolute},
		{Milliseconds: 66535, Quality: object.TimeAbsolute},
		{Milliseconds: 1<<40 + 5, Quality: object.TimeUnsynchronized},
	}
	var got []object.Timestamp
	for _, h := range all {
		for p := range h.Points() {
			got = append(got, p.Time)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d times, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("time %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

func TestACommonTimeReadRequestIsNoCommonTime(t *testing.T) {
	all := headers(t, "C0 01 33 01 28 03 00 01 02 03 04 05 06")
	if n := len(all); n != 1 || all[0].HasValues() {
		t.Errorf("%d headers", n)
	}
}

func TestHeadersWithoutPointsYieldNone(t *testing.T) {
	for name, wire := range map[string]string{
		"a class":                  "C0 01 3C 01 06",
		"a request for points":     "C0 01 1E 01 28 01 00 05 00",
		"a request for packed":     "C0 01 01 01 00 00 FF",
		"a control block":          "C0 03 0C 01 28 01 00 00 00 03 01 00 00 00 00 00 00 00 00 00",
		"a string":                 "C0 81 00 00 6E 01 00 00 00 41",
		"a count of none":          "C0 81 00 00 1E 01 07 00",
		"an attribute":             "C0 81 00 00 00 FC 00 00 00 01 01 41",
		"a time":                   "C0 02 32 01 07 01 00 00 00 00 00 00",
		"the name of a file":       "C0 1B 46 08 5B 01 01 00 41",
		"a count of empty strings": "C0 81 00 00 6E 00 07 05",
	} {
		for p := range headers(t, wire)[0].Points() {
			t.Errorf("%s yields %+v", name, p)
		}
	}
	for p := range (app.Header{}).Points() {
		t.Errorf("the zero header yields %+v", p)
	}
}
