package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/protocol/dnp3/app"
)

// objects returns the objects of the only header behind a response head.
func objects(tb testing.TB, wire string) []app.Object {
	tb.Helper()
	all := headers(tb, "C0 81 00 00"+wire)
	if len(all) != 1 {
		tb.Fatalf("%d headers", len(all))
	}
	var list []app.Object
	for o := range all[0].Objects() {
		list = append(list, o)
	}
	return list
}

func TestControlBlocksAreRead(t *testing.T) {
	list := objects(t, "0C 01 17 02 0A 03 01 00 00 00 00 00 00 00 00 00 0B A1 02 64 00 00 00 FF FF FF FF 04")
	want := []app.CROB{
		{Code: app.OpLatchOn, Count: 1},
		{
			Code: app.OpPulseOn | app.OpTrip | app.OpClear, Count: 2, OnTime: 100 * time.Millisecond,
			OffTime: 4294967295 * time.Millisecond, Status: app.StatusNotSupported,
		},
	}
	for i, o := range list {
		if got, ok := o.CROB(); !ok || got != want[i] || o.Index != uint32(10+i) {
			t.Errorf("index %d: %+v, want %+v", o.Index, got, want[i])
		}
	}
	if code := want[1].Code; code.Operation() != app.OpPulseOn || code.TripClose() != app.OpTrip || code.String() != "PULSE_ON|TRIP|CLEAR" {
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
	if !ok || common != (app.Timestamp{Milliseconds: 1, Quality: app.TimeUnsynchronized}) {
		t.Errorf("common time is %+v", common)
	}
	start, interval, ok := objects(t, "32 02 07 01 E8 03 00 00 00 00 A0 BB 0D 00")[0].TimeInterval()
	if !ok || start != at(1000) || interval != 15*time.Minute {
		t.Errorf("interval is %+v, %v", start, interval)
	}
	indexed, ok := objects(t, "32 04 28 01 00 02 00 01 00 00 00 00 00 09 00 00 00 02")[0].IndexedTime()
	if !ok || indexed != (app.IndexedTime{Start: at(1), Interval: 9, Unit: app.IntervalSeconds}) {
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
	want := []app.AttributeItem{{Number: 252}, {Number: 247, Writable: true}}
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

func TestFileObjectsSurviveTheRoundTrip(t *testing.T) {
	created := at(1349827200000)
	decode := func(o app.Object) (any, error) {
		switch o.Variation {
		case app.G70V2:
			return o.FileAuth()
		case app.G70V3:
			return o.FileCommand()
		case app.G70V4:
			return o.FileCommandStatus()
		case app.G70V5:
			return o.FileBlock()
		case app.G70V6:
			return o.FileBlockStatus()
		case app.G70V7:
			return o.FileDescriptor()
		default:
			return app.FileName(o.FileName()), nil
		}
	}
	cases := []struct {
		name   string
		object app.FileObject
	}{
		{"authentication", app.FileAuth{User: "alice", Password: "secret", Key: 7}},
		{"command", app.FileCommand{Name: "/logs/a", Created: created, Permissions: 0o644, Key: 7, Size: 9, Mode: app.FileModeWrite, BlockSize: 512, Request: 3}},
		{"command status", app.FileCommandStatus{Handle: 1, Size: 2, BlockSize: 3, Request: 4, Status: app.FileLocked, Text: "in use"}},
		{"block", app.FileBlock{Handle: 1, Number: 5, Last: true, Data: []byte{1, 2, 3}}},
		{"block status", app.FileBlockStatus{Handle: 1, Number: 5, Status: app.FileBlockSequence, Text: "gap"}},
		{"descriptor", app.FileDescriptor{Name: "a", Type: app.FileTypeSimple, Size: 9, Created: created, Permissions: 0o400, Request: 3}},
		{"name", app.FileName("/logs/a")},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := app.NewRequest(make([]byte, 0, 128), 0xC0, app.FuncOpenFile)
			noError(t, w.File(tc.object))
			fragment, err := app.Parse(w.Bytes())
			noError(t, err)
			for h, err := range fragment.Headers() {
				noError(t, err)
				for o := range h.Objects() {
					got, err := decode(o)
					noError(t, err)
					if diff := cmp.Diff(any(tc.object), got); diff != "" {
						t.Errorf("object differs (-want +got):\n%s", diff)
					}
				}
			}
		})
	}
}

func TestMalformedFileObjectsAreRefused(t *testing.T) {
	short := app.Object{Variation: app.G70V3, Data: make([]byte, 25)}
	if _, err := short.FileCommand(); err == nil || err.Error() != "decode g70v3: 25 octets, at least 26 needed" {
		t.Errorf("error is %v", err)
	}
	beyond := app.Object{Variation: app.G70V3, Data: make([]byte, 26)}
	beyond.Data[0], beyond.Data[2] = 26, 5
	if _, err := beyond.FileCommand(); err == nil || err.Error() != "decode g70v3: string of 5 octets at octet 26 of 26" {
		t.Errorf("error is %v", err)
	}
	if _, err := beyond.FileBlock(); err == nil || err.Error() != "decode g70v5: the object is g70v3" {
		t.Errorf("error is %v", err)
	}
}

func TestADirectoryIsReadEntryByEntry(t *testing.T) {
	content := octets(t, "14 00 01 00 01 00 09 00 00 00 00 00 00 00 00 00 00 00 00 00 61"+
		"14 00 02 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 62 63")
	var names []string
	for len(content) > 0 {
		d, rest, err := app.NextDescriptor(content)
		noError(t, err)
		names = append(names, d.Name)
		content = rest
	}
	if got := strings.Join(names, " "); got != "a bc" {
		t.Errorf("names are %s", got)
	}
}

func TestADirectoryThatPointsNowhereEnds(t *testing.T) {
	content := make([]byte, 40) // the name would stand at octet 0 with no length
	_, rest, err := app.NextDescriptor(content)
	if err == nil && len(rest) >= len(content) {
		t.Error("reading makes no progress")
	}
}

func TestTypedViewsOfOtherObjectsAreRefused(t *testing.T) {
	o := app.Object{Variation: app.G30V1, Data: make([]byte, 30)}
	_, crob := o.CROB()
	_, stamp := o.Time()
	_, _, interval := o.TimeInterval()
	_, indexed := o.IndexedTime()
	_, delay := o.Delay()
	_, attribute := o.Attribute()
	if crob || stamp || interval || indexed || delay || attribute || o.FileName() != "" {
		t.Error("an analog was taken for something else")
	}
}
