package object_test

import (
	"math"
	"testing"
	"time"

	"voltbus/protocol/dnp3/object"
)

func at(ms uint64) object.Timestamp {
	return object.Timestamp{Milliseconds: ms, Quality: object.TimeAbsolute}
}

func TestValuesConvertWithoutSurprises(t *testing.T) {
	cases := []struct {
		value object.Value
		on    bool
		pair  object.DoubleBit
		whole int64
		count uint64
		real  float64
		text  string
	}{
		{object.Value{}, false, object.DeterminedOff, 0, 0, 0, "none"},
		{object.Bool(true), true, object.DeterminedOn, 1, 1, 1, "true"},
		{object.Bool(false), false, object.DeterminedOff, 0, 0, 0, "false"},
		{object.Double(object.Intermediate), false, object.Intermediate, 0, 0, 0, "intermediate"},
		{object.Double(object.Indeterminate), false, object.Indeterminate, 3, 3, 3, "indeterminate"},
		{object.Unsigned(math.MaxUint64), true, object.DeterminedOn, math.MaxInt64, math.MaxUint64, math.MaxUint64, "18446744073709551615"},
		{object.Signed(-5), true, object.DeterminedOn, -5, 0, -5, "-5"},
		{object.Float(2.5), true, object.DeterminedOn, 3, 3, 2.5, "2.5"},
		{object.Float(-2.5), true, object.DeterminedOn, -3, 0, -2.5, "-2.5"},
		{object.Float(1e300), true, object.DeterminedOn, math.MaxInt64, math.MaxInt64, 1e300, "1e+300"},
		{object.Float(math.Inf(-1)), true, object.DeterminedOn, math.MinInt64, 0, math.Inf(-1), "-Inf"},
	}
	for _, tc := range cases {
		t.Run(tc.text, func(t *testing.T) {
			v := tc.value
			if v.Bool() != tc.on || v.DoubleBit() != tc.pair || v.Int() != tc.whole ||
				v.Uint() != tc.count || v.Float() != tc.real || v.String() != tc.text {
				t.Errorf("%t %v %d %d %g %s", v.Bool(), v.DoubleBit(), v.Int(), v.Uint(), v.Float(), v)
			}
		})
	}
	if got := object.Float(math.NaN()).Int(); got != 0 {
		t.Errorf("not a number is %d", got)
	}
}

func TestTimestampsFollowTimeWithinTheirRange(t *testing.T) {
	cases := []struct {
		name string
		in   time.Time
		want uint64
	}{
		{"the epoch", time.Unix(0, 0), 0},
		{"before the epoch", time.Unix(-1, 0), 0},
		{"microseconds are cut", time.UnixMicro(1999), 1},
		{"the last millisecond", time.UnixMilli(1<<48 - 1), 1<<48 - 1},
		{"past the last millisecond", time.UnixMilli(1 << 48), 1<<48 - 1},
		{"another zone", time.Date(2012, 10, 10, 2, 0, 0, 0, time.FixedZone("", 7200)), 1349827200000},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			stamp := object.TimestampOf(tc.in)
			if stamp != at(tc.want) {
				t.Errorf("got %+v, want %d", stamp, tc.want)
			}
			if back, ok := stamp.Time(); !ok || back.UnixMilli() != int64(tc.want) {
				t.Errorf("back to %v", back)
			}
		})
	}
	if _, ok := (object.Timestamp{}).Time(); ok {
		t.Error("no time is a time")
	}
}

func TestVariationsKnowTheirShape(t *testing.T) {
	cases := []struct {
		variation             object.Variation
		size                  int
		event, flagged, timed bool
	}{
		{object.G1V1, 0, false, false, false},
		{object.G2V2, 7, true, true, true},
		{object.G2V3, 3, true, true, true},
		{object.G12V1, 11, false, false, false},
		{object.G22V5, 11, true, true, true},
		{object.G32V3, 11, true, true, true},
		{object.G32V8, 15, true, true, true},
		{object.G41V4, 9, false, false, false},
		{object.Of(111, 40), 40, true, false, false},
	}
	for _, tc := range cases {
		v := tc.variation
		if v.Size() != tc.size || v.Event() != tc.event || v.Flagged() != tc.flagged || v.Timed() != tc.timed {
			t.Errorf("%v: size %d, event %t, flagged %t, timed %t", v, v.Size(), v.Event(), v.Flagged(), v.Timed())
		}
	}
	if n := object.Of(30, 7); n.Known() || n.Kind() != 0 || n.Size() != 0 {
		t.Errorf("%v is known", n)
	}
}

func TestFlagsSayWhetherAValueIsGood(t *testing.T) {
	for flags, want := range map[object.Flags]bool{
		object.FlagOnline: true,
		object.FlagOnline | object.FlagRemoteForced: true,
		object.FlagOnline | object.FlagRestart:      false,
		object.FlagOnline | object.FlagCommLost:     false,
		object.FlagLocalForced:                      false,
		0:                                           false,
		object.FlagOnline | object.FlagDiscontinuity: true,
	} {
		if flags.Good() != want {
			t.Errorf("%08b is good: %t", flags, flags.Good())
		}
	}
	if object.FlagOnline.Has(object.FlagRestart) {
		t.Error("Has is wrong")
	}
}

func TestNamesReadLikeTheStandard(t *testing.T) {
	for got, want := range map[string]string{
		object.StatusAutomationInhibit.String(): "AUTOMATION_INHIBIT",
		object.Status(50).String():              "status 50",
		object.G32V7.String():                   "g32v7",
		object.G32V7.Describe():                 "analog input, event, single-precision, with flags, with time",
		object.G43V1.Describe():                 "analog output command event, event, 32-bit, with status",
		object.G60V2.Describe():                 "class",
		object.G30V0.Describe():                 "analog input, any",
		object.Of(254, 1).Describe():            "unknown",
		object.ControlCode(0xD9).String():       "operation 9|TCC_RESERVED|QUEUE",
		object.KindDeadband.String():            "analog input dead-band",
		object.Kind(99).String():                "kind 99",
		object.StatusNonParticipating.String():  "NON_PARTICIPATING",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
