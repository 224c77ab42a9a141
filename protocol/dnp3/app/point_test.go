package app_test

import (
	"math"
	"testing"

	"voltbus/protocol/dnp3/app"
)

func at(ms uint64) app.Timestamp {
	return app.Timestamp{Milliseconds: ms, Quality: app.TimeAbsolute}
}

const (
	online   = app.FlagOnline
	someTime = 0x060504030201
)

// wirePoints are single points of every variation as they stand behind a response
// head: current values in a range, events and commands behind an index.
var wirePoints = []struct {
	name, wire string
	variation  app.Variation
	point      app.Point
}{
	{"binary input, packed", "01 01 00 03 03 01", app.G1V1, app.Point{Index: 3, Value: app.Bool(true), Flags: online}},
	{"binary input, on and online", "01 02 00 03 03 81", app.G1V2, app.Point{Index: 3, Value: app.Bool(true), Flags: online}},
	{"binary input, off and chattering", "01 02 00 03 03 21", app.G1V2, app.Point{Index: 3, Value: app.Bool(false), Flags: online | app.FlagChatter}},
	{"binary event", "02 01 28 01 00 03 00 81", app.G2V1, app.Point{Index: 3, Value: app.Bool(true), Flags: online}},
	{"binary event with time", "02 02 28 01 00 03 00 81 01 02 03 04 05 06", app.G2V2, app.Point{Index: 3, Value: app.Bool(true), Flags: online, Time: at(someTime)}},
	{"double-bit input, packed", "03 01 00 03 03 02", app.G3V1, app.Point{Index: 3, Value: app.Double(app.DeterminedOn), Flags: online}},
	{"double-bit input, off", "03 02 00 03 03 41", app.G3V2, app.Point{Index: 3, Value: app.Double(app.DeterminedOff), Flags: online}},
	{"double-bit event", "04 01 28 01 00 03 00 C1", app.G4V1, app.Point{Index: 3, Value: app.Double(app.Indeterminate), Flags: online}},
	{"double-bit event with time", "04 02 28 01 00 03 00 01 01 02 03 04 05 06", app.G4V2, app.Point{Index: 3, Value: app.Double(app.Intermediate), Flags: online, Time: at(someTime)}},

	{"output status, packed", "0A 01 01 03 01 03 01 01", app.G10V1, app.Point{Index: 259, Value: app.Bool(true), Flags: online}},
	{"output status", "0A 02 00 03 03 80", app.G10V2, app.Point{Index: 3, Value: app.Bool(true)}},
	{"output status event", "0B 01 28 01 00 03 00 81", app.G11V1, app.Point{Index: 3, Value: app.Bool(true), Flags: online}},
	{"output status event with time", "0B 02 28 01 00 03 00 01 01 02 03 04 05 06", app.G11V2, app.Point{Index: 3, Value: app.Bool(false), Flags: online, Time: at(someTime)}},
	{"pattern mask", "0C 03 00 03 03 01", app.G12V3, app.Point{Index: 3, Value: app.Bool(true), Flags: online}},
	{"output command event", "0D 01 28 01 00 03 00 84", app.G13V1, app.Point{Index: 3, Value: app.Bool(true), Flags: online, Status: app.StatusNotSupported}},
	{"output command event with time", "0D 02 28 01 00 03 00 7F 01 02 03 04 05 06", app.G13V2, app.Point{Index: 3, Value: app.Bool(false), Flags: online, Status: app.StatusUndefined, Time: at(someTime)}},

	{"counter, 32-bit", "14 01 00 03 03 01 FF FF FF FF", app.G20V1, app.Point{Index: 3, Value: app.Unsigned(math.MaxUint32), Flags: online}},
	{"counter, 16-bit", "14 02 00 03 03 41 34 12", app.G20V2, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online | app.FlagDiscontinuity}},
	{"counter, 32-bit without flags", "14 05 00 03 03 78 56 34 12", app.G20V5, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online}},
	{"counter, 16-bit without flags", "14 06 00 03 03 34 12", app.G20V6, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online}},
	{"frozen counter, 32-bit", "15 01 00 03 03 01 78 56 34 12", app.G21V1, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online}},
	{"frozen counter, 16-bit", "15 02 00 03 03 01 34 12", app.G21V2, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online}},
	{"frozen counter, 32-bit with time", "15 05 00 03 03 01 78 56 34 12 01 02 03 04 05 06", app.G21V5, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"frozen counter, 16-bit with time", "15 06 00 03 03 01 34 12 01 02 03 04 05 06", app.G21V6, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online, Time: at(someTime)}},
	{"frozen counter, 32-bit without flags", "15 09 00 03 03 78 56 34 12", app.G21V9, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online}},
	{"frozen counter, 16-bit without flags", "15 0A 00 03 03 34 12", app.G21V10, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online}},
	{"counter event, 32-bit", "16 01 28 01 00 03 00 01 78 56 34 12", app.G22V1, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online}},
	{"counter event, 16-bit", "16 02 28 01 00 03 00 01 34 12", app.G22V2, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online}},
	{"counter event, 32-bit with time", "16 05 28 01 00 03 00 01 78 56 34 12 01 02 03 04 05 06", app.G22V5, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"counter event, 16-bit with time", "16 06 28 01 00 03 00 01 34 12 01 02 03 04 05 06", app.G22V6, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online, Time: at(someTime)}},
	{"frozen counter event, 32-bit", "17 01 28 01 00 03 00 01 78 56 34 12", app.G23V1, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online}},
	{"frozen counter event, 16-bit", "17 02 28 01 00 03 00 01 34 12", app.G23V2, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online}},
	{"frozen counter event, 32-bit with time", "17 05 28 01 00 03 00 01 78 56 34 12 01 02 03 04 05 06", app.G23V5, app.Point{Index: 3, Value: app.Unsigned(0x12345678), Flags: online, Time: at(someTime)}},
	{"frozen counter event, 16-bit with time", "17 06 28 01 00 03 00 01 34 12 01 02 03 04 05 06", app.G23V6, app.Point{Index: 3, Value: app.Unsigned(0x1234), Flags: online, Time: at(someTime)}},

	{"analog, 32-bit", "1E 01 00 03 03 01 FE FF FF FF", app.G30V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog, 16-bit, restarted", "1E 02 00 03 03 02 FE FF", app.G30V2, app.Point{Index: 3, Value: app.Signed(-2), Flags: app.FlagRestart}},
	{"analog, 32-bit without flags", "1E 03 00 03 03 FE FF FF FF", app.G30V3, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog, 16-bit without flags", "1E 04 00 03 03 FE FF", app.G30V4, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog, single precision", "1E 05 00 03 03 01 00 00 C0 3F", app.G30V5, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog, double precision", "1E 06 00 03 03 01 00 00 00 00 00 00 F8 3F", app.G30V6, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"frozen analog, 32-bit", "1F 01 00 03 03 01 FE FF FF FF", app.G31V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"frozen analog, 16-bit", "1F 02 00 03 03 01 FE FF", app.G31V2, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"frozen analog, 32-bit with time", "1F 03 00 03 03 01 FE FF FF FF 01 02 03 04 05 06", app.G31V3, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog, 16-bit with time", "1F 04 00 03 03 01 FE FF 01 02 03 04 05 06", app.G31V4, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog, 32-bit without flags", "1F 05 00 03 03 FE FF FF FF", app.G31V5, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"frozen analog, 16-bit without flags", "1F 06 00 03 03 FE FF", app.G31V6, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"frozen analog, single precision", "1F 07 00 03 03 01 00 00 C0 3F", app.G31V7, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"frozen analog, double precision", "1F 08 00 03 03 01 00 00 00 00 00 00 F8 3F", app.G31V8, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog event, 32-bit", "20 01 28 01 00 03 00 01 FE FF FF FF", app.G32V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog event, 16-bit", "20 02 28 01 00 03 00 01 FE FF", app.G32V2, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog event, 32-bit with time", "20 03 28 01 00 03 00 01 FE FF FF FF 01 02 03 04 05 06", app.G32V3, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog event, 16-bit with time", "20 04 28 01 00 03 00 01 FE FF 01 02 03 04 05 06", app.G32V4, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog event, single precision", "20 05 28 01 00 03 00 01 00 00 C0 3F", app.G32V5, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog event, double precision", "20 06 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F", app.G32V6, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog event, single precision with time", "20 07 28 01 00 03 00 01 00 00 C0 3F 01 02 03 04 05 06", app.G32V7, app.Point{Index: 3, Value: app.Float(1.5), Flags: online, Time: at(someTime)}},
	{"analog event, double precision with time", "20 08 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F 01 02 03 04 05 06", app.G32V8, app.Point{Index: 3, Value: app.Float(1.5), Flags: online, Time: at(someTime)}},
	{"frozen analog event, 16-bit with time", "21 04 28 01 00 03 00 01 FE FF 01 02 03 04 05 06", app.G33V4, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"frozen analog event, double precision", "21 06 28 01 00 03 00 01 00 00 00 00 00 00 F8 3F", app.G33V6, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"dead-band, 16-bit", "22 01 00 03 03 FE FF", app.G34V1, app.Point{Index: 3, Value: app.Unsigned(65534), Flags: online}},
	{"dead-band, 32-bit", "22 02 00 03 03 FE FF FF FF", app.G34V2, app.Point{Index: 3, Value: app.Unsigned(4294967294), Flags: online}},
	{"dead-band, single precision", "22 03 00 03 03 00 00 C0 3F", app.G34V3, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},

	{"output status, 32-bit", "28 01 00 03 03 01 FE FF FF FF", app.G40V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"output status, 16-bit", "28 02 00 03 03 01 FE FF", app.G40V2, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"output status, single precision", "28 03 00 03 03 01 00 00 C0 3F", app.G40V3, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"output status, double precision", "28 04 00 03 03 01 00 00 00 00 00 00 F8 3F", app.G40V4, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog command, 32-bit", "29 01 28 01 00 03 00 FE FF FF FF 00", app.G41V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online}},
	{"analog command, 16-bit", "29 02 28 01 00 03 00 FE FF 0C", app.G41V2, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Status: app.StatusOutOfRange}},
	{"analog command, single precision", "29 03 28 01 00 03 00 00 00 C0 3F 00", app.G41V3, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"analog command, double precision", "29 04 28 01 00 03 00 00 00 00 00 00 00 F8 3F 00", app.G41V4, app.Point{Index: 3, Value: app.Float(1.5), Flags: online}},
	{"output status event, single precision with time", "2A 07 28 01 00 03 00 01 00 00 C0 3F 01 02 03 04 05 06", app.G42V7, app.Point{Index: 3, Value: app.Float(1.5), Flags: online, Time: at(someTime)}},
	{"analog command event, 32-bit", "2B 01 28 01 00 03 00 04 FE FF FF FF", app.G43V1, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Status: app.StatusNotSupported}},
	{"analog command event, 16-bit with time", "2B 04 28 01 00 03 00 00 FE FF 01 02 03 04 05 06", app.G43V4, app.Point{Index: 3, Value: app.Signed(-2), Flags: online, Time: at(someTime)}},
	{"analog command event, double precision with time", "2B 08 28 01 00 03 00 00 00 00 00 00 00 00 F8 3F 01 02 03 04 05 06", app.G43V8, app.Point{Index: 3, Value: app.Float(1.5), Flags: online, Time: at(someTime)}},

	{"internal indication", "50 01 00 07 07 01", app.G80V1, app.Point{Index: 7, Value: app.Bool(true), Flags: online}},
	{"unsigned integer", "66 01 00 03 03 FE", app.G102V1, app.Point{Index: 3, Value: app.Unsigned(254), Flags: online}},
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
			if tc.variation.Event() || tc.variation.Kind() == app.KindAnalogCommand {
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
	seen := map[app.Variation]bool{app.G2V3: true, app.G4V3: true}
	for _, tc := range wirePoints {
		seen[tc.variation] = true
	}
	for v := range app.Variations() {
		pointGroup := v.Group() > 0 && v.Group() < 50 && v.Number() > 0
		control := v == app.G12V1 || v == app.G12V2
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
	want := []app.Timestamp{
		{Milliseconds: 5, Quality: app.TimeBaseless},
		{Milliseconds: 1005, Quality: app.TimeAbsolute},
		{Milliseconds: 66535, Quality: app.TimeAbsolute},
		{Milliseconds: 1<<40 + 5, Quality: app.TimeUnsynchronized},
	}
	var got []app.Timestamp
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
