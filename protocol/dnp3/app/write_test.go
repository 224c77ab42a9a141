package app_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// noError fails the test on the first error of a chain of calls.
func noError(tb testing.TB, errs ...error) {
	tb.Helper()
	for i, err := range errs {
		if err != nil {
			tb.Fatalf("call %d: %v", i, err)
		}
	}
}

func TestRequestsAreBuiltToTheOctet(t *testing.T) {
	const seq = app.Sequence(3)
	cases := []struct {
		name     string
		function app.Function
		build    func(w *app.Writer) error
		want     string
	}{
		{
			"an integrity poll", app.FuncRead,
			func(w *app.Writer) error { return w.Classes(app.Integrity) },
			"C3 01 3C 02 06 3C 03 06 3C 04 06 3C 01 06",
		},
		{
			"enabling unsolicited responses of all classes", app.FuncEnableUnsolicited,
			func(w *app.Writer) error { return w.Classes(app.EventClasses) },
			"C3 14 3C 02 06 3C 03 06 3C 04 06",
		},
		{
			"a read of an index range", app.FuncRead,
			func(w *app.Writer) error { return w.Range(object.G30V0, 2, 300) },
			"C3 01 1E 00 01 02 00 2C 01",
		},
		{
			"a read of at most 20 events", app.FuncRead,
			func(w *app.Writer) error { return w.Limit(object.G60V2, 20) },
			"C3 01 3C 02 07 14",
		},
		{
			"a read of at most 300 events", app.FuncRead,
			func(w *app.Writer) error { return w.Limit(object.G60V2, 300) },
			"C3 01 3C 02 08 2C 01",
		},
		{
			"a read of single points", app.FuncRead,
			func(w *app.Writer) error { return errors.Join(w.Index(object.G1V2, 3), w.Index(object.G1V2, 9)) },
			"C3 01 01 02 28 02 00 03 00 09 00",
		},
		{
			"clearing the restart indication", app.FuncWrite,
			func(w *app.Writer) error { return w.ClearRestart() },
			"C3 02 50 01 00 07 07 00",
		},
		{
			"setting the clock", app.FuncWrite,
			func(w *app.Writer) error {
				return w.Time(object.G50V1, object.TimestampOf(time.Date(2012, 10, 10, 0, 0, 0, 0, time.UTC)))
			},
			"C3 02 32 01 07 01 00 84 F8 47 3A 01",
		},
		{
			"a select of two relays", app.FuncSelect,
			func(w *app.Writer) error {
				pulse := object.CROB{Code: object.OpPulseOn | object.OpTrip, Count: 1, OnTime: 100 * time.Millisecond, OffTime: 200 * time.Millisecond}
				return errors.Join(w.CROB(10, object.CROB{Code: object.OpLatchOn, Count: 1}), w.CROB(11, pulse))
			},
			"C3 03 0C 01 28 02 00 0A 00 03 01 00 00 00 00 00 00 00 00 00 0B 00 81 01 64 00 00 00 C8 00 00 00 00",
		},
		{
			"a direct operate of an analog output, narrow", app.FuncDirectOperate,
			func(w *app.Writer) error {
				w.Narrow()
				return w.Indexed(object.G41V2, object.Point{Index: 1, Value: object.Float(-2.4)})
			},
			"C3 05 29 02 17 01 01 FE FF 00",
		},
		{
			"a pattern", app.FuncDirectOperate,
			func(w *app.Writer) error {
				return errors.Join(w.Pattern(object.CROB{Code: object.OpLatchOn, Count: 1}),
					w.Static(object.G12V3, object.Point{Index: 0, Value: object.Bool(true)}),
					w.Static(object.G12V3, object.Point{Index: 1}),
					w.Static(object.G12V3, object.Point{Index: 2, Value: object.Bool(true)}))
			},
			"C3 05 0C 02 07 01 03 01 00 00 00 00 00 00 00 00 00 0C 03 00 00 02 05",
		},
		{
			"a freeze with clear of all counters", app.FuncFreezeClear,
			func(w *app.Writer) error { return w.All(object.G20V0) },
			"C3 09 14 00 06",
		},
		{
			"a freeze every 15 minutes", app.FuncFreezeAtTime,
			func(w *app.Writer) error {
				return errors.Join(w.TimeInterval(at(1000), 15*time.Minute), w.All(object.G20V0))
			},
			"C3 0B 32 02 07 01 E8 03 00 00 00 00 A0 BB 0D 00 14 00 06",
		},
		{
			"an assignment to class 2", app.FuncAssignClass,
			func(w *app.Writer) error { return errors.Join(w.Classes(app.Class2), w.Range(object.G20V0, 0, 7)) },
			"C3 16 3C 03 06 14 00 00 00 07",
		},
		{
			"a dead-band", app.FuncWrite,
			func(w *app.Writer) error {
				return w.Static(object.G34V3, object.Point{Index: 4, Value: object.Float(0.5)})
			},
			"C3 02 22 03 00 04 04 00 00 00 3F",
		},
		{
			"an indexed time", app.FuncWrite,
			func(w *app.Writer) error {
				return w.IndexedTime(2, object.IndexedTime{Start: at(1), Interval: 9, Unit: object.IntervalSeconds})
			},
			"C3 02 32 04 28 01 00 02 00 01 00 00 00 00 00 09 00 00 00 02",
		},
		{
			"two times that repeat, as an answer gives them", app.FuncWrite,
			func(w *app.Writer) error {
				return errors.Join(
					w.StaticTime(2, object.IndexedTime{Start: at(1), Interval: 9, Unit: object.IntervalSeconds}),
					w.StaticTime(3, object.IndexedTime{}),
				)
			},
			"C3 02 32 04 00 02 03 01 00 00 00 00 00 09 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00",
		},
		{
			"a read of all attributes", app.FuncRead,
			func(w *app.Writer) error { return w.Range(object.G0V254, 0, 0) },
			"C3 01 00 FE 00 00 00",
		},
		{
			"opening a file", app.FuncOpenFile,
			func(w *app.Writer) error {
				return w.Free(file.Command{Name: "a.log", Mode: file.ModeRead, BlockSize: 1024, Request: 7})
			},
			"C3 19 46 03 5B 01 1F 00 1A 00 05 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01 00 00 04 07 00 61 2E 6C 6F 67",
		},
		{
			"a request without objects", app.FuncDelayMeasure,
			func(*app.Writer) error { return nil }, "C3 17",
		},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := app.NewRequest(make([]byte, 0, 64), seq.Single(), tc.function)
			noError(t, tc.build(&w))
			if got, want := w.Bytes(), octets(t, tc.want); string(got) != string(want) {
				t.Errorf("got  % X\nwant % X", got, want)
			}
			fragment, err := app.Parse(w.Bytes())
			noError(t, err, fragment.Check())
		})
	}
}

func TestResponsesAreBuiltToTheOctet(t *testing.T) {
	cases := []struct {
		name  string
		build func(w *app.Writer) error
		want  string
	}{
		{"points in a row share a range", func(w *app.Writer) error {
			return errors.Join(w.Static(object.G1V2, object.Point{Index: 7, Flags: online}),
				w.Static(object.G1V2, object.Point{Index: 8, Flags: online}),
				w.Static(object.G1V2, object.Point{Index: 10, Flags: online}))
		}, "01 02 00 07 08 01 01 01 02 00 0A 0A 01"},
		{"a range goes on in two octets after 255", func(w *app.Writer) error {
			return errors.Join(w.Static(object.G30V4, object.Point{Index: 255}), w.Static(object.G30V4, object.Point{Index: 256}))
		}, "1E 04 00 FF FF 00 00 1E 04 01 00 01 00 01 00 00"},
		{"packed points share octets", func(w *app.Writer) error {
			for i := range uint32(9) {
				if err := w.Static(object.G10V1, object.Point{Index: i, Value: object.Bool(i%2 == 0)}); err != nil {
					return err
				}
			}
			return nil
		}, "0A 01 00 00 08 55 01"},
		{"events in a row share a header, order is kept", func(w *app.Writer) error {
			return errors.Join(w.Indexed(object.G2V1, object.Point{Index: 9, Flags: online}),
				w.Indexed(object.G2V1, object.Point{Index: 2, Flags: online}),
				w.Indexed(object.G22V2, object.Point{Index: 1, Value: object.Unsigned(5), Flags: online}),
				w.Indexed(object.G2V1, object.Point{Index: 9, Flags: online}))
		}, "02 01 28 02 00 09 00 01 02 00 01 16 02 28 01 00 01 00 01 05 00 02 01 28 01 00 09 00 01"},
		{"an index above 65535 takes four octets", func(w *app.Writer) error {
			return w.Indexed(object.G2V1, object.Point{Index: 65536, Flags: online})
		}, "02 01 39 01 00 00 00 00 00 01 00 01"},
		{"a relative time", func(w *app.Writer) error {
			return errors.Join(w.Time(object.G51V1, at(1000)),
				w.Indexed(object.G2V3, object.Point{Index: 1, Flags: online, Time: at(1005)}))
		}, "33 01 07 01 E8 03 00 00 00 00 02 03 28 01 00 01 00 01 05 00"},
		{"a delay in milliseconds", func(w *app.Writer) error { return w.Delay(object.G52V2, 513*time.Millisecond) }, "34 02 07 01 01 02"},
		{"a delay in seconds", func(w *app.Writer) error { return w.Delay(object.G52V1, 513*time.Second) }, "34 01 07 01 01 02"},
		{"octet strings of one length share a range", func(w *app.Writer) error {
			return errors.Join(w.String(110, 0, []byte("ab")), w.String(110, 1, []byte("cd")), w.String(110, 2, []byte("e")))
		}, "6E 02 00 00 01 61 62 63 64 6E 01 00 02 02 65"},
		{"an empty octet string", func(w *app.Writer) error { return w.String(110, 4, nil) }, "6E 00 00 04 04"},
		{"an octet string event", func(w *app.Writer) error { return w.StringEvent(111, 4, []byte("ab")) }, "6F 02 28 01 00 04 00 61 62"},
		{"a device attribute", func(w *app.Writer) error {
			return w.Attribute(0, 252, object.Attribute{Type: object.AttributeText, Data: []byte("VB")})
		}, "00 FC 00 00 00 01 02 56 42"},
		{"the status of a file command", func(w *app.Writer) error {
			return w.Free(file.CommandStatus{Handle: 1, Size: 2, BlockSize: 3, Request: 4, Status: file.NotFound})
		}, "46 04 5B 01 0D 00 01 00 00 00 02 00 00 00 03 00 04 00 03"},
		{"the last block of a file", func(w *app.Writer) error {
			return w.Free(file.Block{Handle: 1, Number: 2, Last: true, Data: []byte{0xAA}})
		}, "46 05 5B 01 09 00 01 00 00 00 02 00 00 80 AA"},
		{"an analog too large is limited and marked", func(w *app.Writer) error {
			return w.Indexed(object.G32V2, object.Point{Index: 1, Value: object.Float(1e9), Flags: online})
		}, "20 02 28 01 00 01 00 21 FF 7F"},
		{"a number too large for single precision stays finite", func(w *app.Writer) error {
			return w.Indexed(object.G32V5, object.Point{Index: 1, Value: object.Float(-1e300), Flags: online})
		}, "20 05 28 01 00 01 00 21 FF FF 7F FF"},
		{"a counter keeps its low bits", func(w *app.Writer) error {
			return w.Static(object.G20V6, object.Point{Index: 1, Value: object.Unsigned(0x12345)})
		}, "14 06 00 01 01 45 23"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := app.NewResponse(make([]byte, 0, 64), 0xC0, app.FuncResponse, 0)
			noError(t, tc.build(&w))
			if got, want := w.Bytes(), octets(t, "C0 81 00 00"+tc.want); string(got) != string(want) {
				t.Errorf("got  % X\nwant % X", got, want)
			}
			fragment, err := app.Parse(w.Bytes())
			noError(t, err, fragment.Check())
		})
	}
}

func TestTheWriterRefusesWhatItCannotSay(t *testing.T) {
	point := func(v object.Value) object.Point { return object.Point{Index: 1, Value: v} }
	cases := []struct {
		name  string
		write func(w *app.Writer) error
		want  error
	}{
		{"an unknown variation", func(w *app.Writer) error { return w.All(object.Of(254, 1)) }, app.ErrVariation},
		{"a class as a point", func(w *app.Writer) error { return w.Static(object.G60V1, object.Point{}) }, app.ErrVariation},
		{"packed bits behind an index", func(w *app.Writer) error { return w.Indexed(object.G1V1, object.Point{}) }, app.ErrVariation},
		{"an analog as a time", func(w *app.Writer) error { return w.Time(object.G30V2, at(0)) }, app.ErrVariation},
		{"an analog as a delay", func(w *app.Writer) error { return w.Delay(object.G30V2, 0) }, app.ErrVariation},
		{"a string to an analog group", func(w *app.Writer) error { return w.String(30, 0, []byte("a")) }, app.ErrVariation},
		{"a command beyond 16 bits", func(w *app.Writer) error { return w.Indexed(object.G41V2, point(object.Float(40000))) }, object.ErrValue},
		{"a command that is not a number", func(w *app.Writer) error { return w.Indexed(object.G41V1, point(object.Float(math.NaN()))) }, object.ErrValue},
		{"a command beyond single precision", func(w *app.Writer) error { return w.Indexed(object.G41V3, point(object.Float(1e300))) }, object.ErrValue},
		{"a negative dead-band", func(w *app.Writer) error { return w.Static(object.G34V1, point(object.Signed(-1))) }, object.ErrValue},
		{"an analog without flags beyond 16 bits", func(w *app.Writer) error { return w.Static(object.G30V4, point(object.Signed(40000))) }, object.ErrValue},
		{"a stop before the start", func(w *app.Writer) error { return w.Range(object.G1V0, 2, 1) }, object.ErrValue},
		{"a negative delay", func(w *app.Writer) error { return w.Delay(object.G52V2, -1) }, object.ErrValue},
		{"a delay beyond 65535 ms", func(w *app.Writer) error { return w.Delay(object.G52V2, 65536*time.Millisecond) }, object.ErrValue},
		{"a time beyond 48 bits", func(w *app.Writer) error { return w.Time(object.G50V1, at(1<<48)) }, object.ErrValue},
		{"an event time beyond 48 bits", func(w *app.Writer) error { return w.Indexed(object.G2V2, object.Point{Time: at(1 << 48)}) }, object.ErrValue},
		{"a string of 256 octets", func(w *app.Writer) error { return w.String(110, 0, make([]byte, 256)) }, object.ErrValue},
		{"an attribute of 256 octets", func(w *app.Writer) error {
			return w.Attribute(0, 1, object.Attribute{Type: object.AttributeText, Data: make([]byte, 256)})
		}, object.ErrValue},
		{"a file name of 70000 octets", func(w *app.Writer) error { return w.Free(file.Name(make([]byte, 70000))) }, object.ErrValue},
		{"a relative time without a base", func(w *app.Writer) error { return w.Indexed(object.G2V3, object.Point{Time: at(5)}) }, object.ErrTime},
		{"a relative time before its base", func(w *app.Writer) error {
			return errors.Join(w.Time(object.G51V1, at(10)), w.Indexed(object.G2V3, object.Point{Time: at(9)}))
		}, object.ErrTime},
		{"a relative time of another quality", func(w *app.Writer) error {
			return errors.Join(w.Time(object.G51V2, at(10)), w.Indexed(object.G2V3, object.Point{Time: at(11)}))
		}, object.ErrTime},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			w := app.NewRequest(make([]byte, 0, 64), 0xC0, app.FuncWrite)
			if err := tc.write(&w); !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want %v", err, tc.want)
			}
			if n := len(w.Bytes()); n != 2 && n != 12 {
				t.Errorf("% X was written", w.Bytes())
			}
		})
	}
}

func TestAFullFragmentStaysAsItWas(t *testing.T) {
	writes := map[string]func(w *app.Writer) error{
		"all":       func(w *app.Writer) error { return w.All(object.G20V0) },
		"classes":   func(w *app.Writer) error { return w.Classes(app.Integrity) },
		"range":     func(w *app.Writer) error { return w.Range(object.G20V0, 0, 1) },
		"index":     func(w *app.Writer) error { return w.Index(object.G20V0, 0) },
		"static":    func(w *app.Writer) error { return w.Static(object.G1V2, object.Point{}) },
		"packed":    func(w *app.Writer) error { return w.Static(object.G1V1, object.Point{}) },
		"indexed":   func(w *app.Writer) error { return w.Indexed(object.G2V1, object.Point{}) },
		"crob":      func(w *app.Writer) error { return w.CROB(0, object.CROB{}) },
		"pattern":   func(w *app.Writer) error { return w.Pattern(object.CROB{}) },
		"time":      func(w *app.Writer) error { return w.Time(object.G50V1, at(0)) },
		"string":    func(w *app.Writer) error { return w.String(110, 0, []byte("a")) },
		"event":     func(w *app.Writer) error { return w.StringEvent(111, 0, []byte("a")) },
		"attribute": func(w *app.Writer) error { return w.Attribute(0, 1, object.Attribute{Type: 1, Data: []byte("a")}) },
		"file":      func(w *app.Writer) error { return w.Free(file.Name("a")) },
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			measure := app.NewRequest(make([]byte, 0, 64), 0xC0, app.FuncWrite)
			noError(t, write(&measure))
			need := len(measure.Bytes())
			exact := app.NewRequest(make([]byte, 0, need), 0xC0, app.FuncWrite)
			noError(t, write(&exact))
			for size := 2; size < need; size++ {
				w := app.NewRequest(make([]byte, 0, size), 0xC0, app.FuncWrite)
				if err := write(&w); !errors.Is(err, app.ErrFull) {
					t.Errorf("%d octets: error is %v", size, err)
				}
				if len(w.Bytes()) != 2 || cap(w.Bytes()) != size {
					t.Errorf("%d octets: % X in %d", size, w.Bytes(), cap(w.Bytes()))
				}
			}
		})
	}
}

func TestAHeaderEndsWhenItsCountIsFull(t *testing.T) {
	w := app.NewResponse(make([]byte, 0, 1024), 0xC0, app.FuncResponse, 0)
	w.Narrow()
	for i := range 256 {
		noError(t, w.Indexed(object.G2V1, object.Point{Index: uint32(i), Flags: online}))
	}
	fragment, err := app.Parse(w.Bytes())
	noError(t, err)
	var counts []uint64
	for h, err := range fragment.Headers() {
		noError(t, err)
		counts = append(counts, h.Count)
	}
	if len(counts) != 2 || counts[0] != 255 || counts[1] != 1 {
		t.Errorf("counts are %d", counts)
	}
}

func TestTheControlOctetCanBeReplaced(t *testing.T) {
	w := app.NewResponse(make([]byte, 0, 8), 0xC0, app.FuncResponse, app.IINNeedTime|app.IINOverflow)
	w.SetControl(app.Sequence(5).Single() | app.CON)
	if got := w.Bytes(); string(got) != "\xE5\x81\x10\x08" {
		t.Errorf("got % X", got)
	}
}
