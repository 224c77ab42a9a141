package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/object"
)

// objects returns the objects of the only header behind a response head.
func objects(tb testing.TB, wire string) []object.Raw {
	tb.Helper()
	all := headers(tb, "C0 81 00 00"+wire)
	if len(all) != 1 {
		tb.Fatalf("%d headers", len(all))
	}
	var list []object.Raw
	for o := range all[0].Objects() {
		list = append(list, o)
	}
	return list
}

func TestControlBlocksAreRead(t *testing.T) {
	list := objects(t, "0C 01 17 02 0A 03 01 00 00 00 00 00 00 00 00 00 0B A1 02 64 00 00 00 FF FF FF FF 04")
	want := []object.CROB{
		{Code: object.OpLatchOn, Count: 1},
		{
			Code: object.OpPulseOn | object.OpTrip | object.OpClear, Count: 2, OnTime: 100 * time.Millisecond,
			OffTime: 4294967295 * time.Millisecond, Status: object.StatusNotSupported,
		},
	}
	for i, o := range list {
		if got, ok := o.CROB(); !ok || got != want[i] || o.Index != uint32(10+i) {
			t.Errorf("index %d: %+v, want %+v", o.Index, got, want[i])
		}
	}
	if code := want[1].Code; code.Operation() != object.OpPulseOn || code.TripClose() != object.OpTrip || code.String() != "PULSE_ON|TRIP|CLEAR" {
		t.Errorf("code is %v", code)
	}
}

func TestStringsAreRead(t *testing.T) {
	static := objects(t, "6E 02 00 05 06 61 62 63 64")
	if len(static) != 2 || static[1].Index != 6 || string(static[1].Data) != "cd" {
		t.Errorf("got %+v", static)
	}
	events := objects(t, "6F 03 28 01 00 07 00 61 62 63")
	if len(events) != 1 || events[0].Index != 7 || string(events[0].Data) != "abc" {
		t.Errorf("got %+v", events)
	}
	empty := objects(t, "6E 00 00 04 04")
	if len(empty) != 1 || empty[0].Index != 4 || len(empty[0].Data) != 0 {
		t.Errorf("got %+v", empty)
	}
}

func TestTimesAndDelaysAreRead(t *testing.T) {
	day := time.Date(2012, 10, 10, 0, 0, 0, 0, time.UTC)
	stamp, ok := objects(t, "32 01 07 01 00 84 F8 47 3A 01")[0].Time()
	if got, usable := stamp.Time(); !ok || !usable || !got.Equal(day) {
		t.Errorf("time is %v", got)
	}
	common, ok := objects(t, "33 02 07 01 01 00 00 00 00 00")[0].Time()
	if !ok || common != (object.Timestamp{Milliseconds: 1, Quality: object.TimeUnsynchronized}) {
		t.Errorf("common time is %+v", common)
	}
	start, interval, ok := objects(t, "32 02 07 01 E8 03 00 00 00 00 A0 BB 0D 00")[0].TimeInterval()
	if !ok || start != at(1000) || interval != 15*time.Minute {
		t.Errorf("interval is %+v, %v", start, interval)
	}
	indexed, ok := objects(t, "32 04 28 01 00 02 00 01 00 00 00 00 00 09 00 00 00 02")[0].IndexedTime()
	if !ok || indexed != (object.IndexedTime{Start: at(1), Interval: 9, Unit: object.IntervalSeconds}) {
		t.Errorf("indexed time is %+v", indexed)
	}
	coarse, _ := objects(t, "34 01 07 01 01 02")[0].Delay()
	fine, _ := objects(t, "34 02 07 01 01 02")[0].Delay()
	if coarse != 513*time.Second || fine != 513*time.Millisecond {
		t.Errorf("delays are %v, %v", coarse, fine)
	}
}

func TestDeviceAttributesAreRead(t *testing.T) {
	number := func(wire string) any {
		a, _ := objects(t, wire)[0].Attribute()
		v, ok := a.Value()
		if !ok {
			return "none"
		}
		return v.Float()
	}
	cases := []struct {
		name, wire string
		want       any
	}{
		{"an unsigned octet", "00 F0 00 00 00 02 01 FE", 254.0},
		{"an unsigned integer of three octets", "00 F0 00 00 00 02 03 01 00 01", 65537.0},
		{"a signed octet", "00 F0 00 00 00 03 01 FE", -2.0},
		{"a signed integer of eight octets", "00 F0 00 00 00 03 08 FE FF FF FF FF FF FF FF", -2.0},
		{"a single-precision number", "00 F0 00 00 00 04 04 00 00 C0 3F", 1.5},
		{"a double-precision number", "00 F0 00 00 00 04 08 00 00 00 00 00 00 F8 3F", 1.5},
		{"a number of nine octets is none", "00 F0 00 00 00 02 09 00 00 00 00 00 00 00 00 00", "none"},
		{"text is no number", "00 F0 00 00 00 01 01 41", "none"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			if got := number(tc.wire); got != tc.want {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
	two := objects(t, "00 FC 00 00 01 01 02 56 42 01 01 43")
	if a, ok := two[1].Attribute(); !ok || two[1].Index != 1 || string(a.Data) != "C" {
		t.Errorf("the second attribute is %+v", a)
	}
	listed, _ := objects(t, "00 FF 00 00 00 FE 04 FC 00 F7 01")[0].Attribute()
	want := []object.AttributeItem{{Number: 252}, {Number: 247, Writable: true}}
	if diff := cmp.Diff(want, listed.List()); diff != "" {
		t.Errorf("list differs (-want +got):\n%s", diff)
	}
	stamp, _ := objects(t, "00 F0 00 00 00 07 06 01 02 03 04 05 06")[0].Attribute()
	if got, ok := stamp.Time(); !ok || got != at(someTime) {
		t.Errorf("time is %+v", got)
	}
	long, _ := objects(t, "00 FF 00 00 00 FF 00"+strings.Repeat(" FC 00", 128))[0].Attribute()
	if got := long.List(); len(got) != 128 {
		t.Errorf("the long list has %d entries", len(got))
	}
}

func TestTypedViewsOfOtherObjectsAreRefused(t *testing.T) {
	o := object.Raw{Variation: object.G30V1, Data: make([]byte, 30)}
	_, crob := o.CROB()
	_, stamp := o.Time()
	_, _, interval := o.TimeInterval()
	_, indexed := o.IndexedTime()
	_, delay := o.Delay()
	_, attribute := o.Attribute()
	if crob || stamp || interval || indexed || delay || attribute {
		t.Error("an analog was taken for something else")
	}
}
