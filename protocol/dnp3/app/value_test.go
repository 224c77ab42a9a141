package app_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"voltbus/protocol/dnp3/app"
)

func TestValuesConvertWithoutSurprises(t *testing.T) {
	cases := []struct {
		value app.Value
		on    bool
		pair  app.DoubleBit
		whole int64
		count uint64
		real  float64
		text  string
	}{
		{app.Value{}, false, app.DeterminedOff, 0, 0, 0, "none"},
		{app.Bool(true), true, app.DeterminedOn, 1, 1, 1, "true"},
		{app.Bool(false), false, app.DeterminedOff, 0, 0, 0, "false"},
		{app.Double(app.Intermediate), false, app.Intermediate, 0, 0, 0, "intermediate"},
		{app.Double(app.Indeterminate), false, app.Indeterminate, 3, 3, 3, "indeterminate"},
		{app.Unsigned(math.MaxUint64), true, app.DeterminedOn, math.MaxInt64, math.MaxUint64, math.MaxUint64, "18446744073709551615"},
		{app.Signed(-5), true, app.DeterminedOn, -5, 0, -5, "-5"},
		{app.Float(2.5), true, app.DeterminedOn, 3, 3, 2.5, "2.5"},
		{app.Float(-2.5), true, app.DeterminedOn, -3, 0, -2.5, "-2.5"},
		{app.Float(1e300), true, app.DeterminedOn, math.MaxInt64, math.MaxInt64, 1e300, "1e+300"},
		{app.Float(math.Inf(-1)), true, app.DeterminedOn, math.MinInt64, 0, math.Inf(-1), "-Inf"},
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
	if got := app.Float(math.NaN()).Int(); got != 0 {
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
			stamp := app.TimestampOf(tc.in)
			if stamp != at(tc.want) {
				t.Errorf("got %+v, want %d", stamp, tc.want)
			}
			if back, ok := stamp.Time(); !ok || back.UnixMilli() != int64(tc.want) {
				t.Errorf("back to %v", back)
			}
		})
	}
	if _, ok := (app.Timestamp{}).Time(); ok {
		t.Error("no time is a time")
	}
}

func TestNamesReadLikeTheStandard(t *testing.T) {
	for got, want := range map[string]string{
		app.FuncDirectOperateNoAck.String():                          "DIRECT_OPERATE_NR",
		app.Function(99).String():                                    "function 99",
		app.StatusAutomationInhibit.String():                         "AUTOMATION_INHIBIT",
		app.Status(50).String():                                      "status 50",
		(app.IINDeviceRestart | app.IINNeedTime).String():            "90 00 NEED_TIME|DEVICE_RESTART",
		app.IIN(0).String():                                          "00 00",
		app.Control(0xF3).String():                                   "FIR=1 FIN=1 CON=1 UNS=1 seq=3",
		app.G32V7.String():                                           "g32v7",
		app.G32V7.Describe():                                         "analog input, event, single-precision, with flags, with time",
		app.G43V1.Describe():                                         "analog output command event, event, 32-bit, with status",
		app.G60V2.Describe():                                         "class",
		app.G30V0.Describe():                                         "analog input, any",
		app.Of(254, 1).Describe():                                    "unknown",
		app.ControlCode(0xD9).String():                               "operation 9|TCC_RESERVED|QUEUE",
		app.KindDeadband.String():                                    "analog input dead-band",
		app.Reason(99).String() + app.Kind(99).String():              "reason 99kind 99",
		app.Truncated.String() + app.StatusNonParticipating.String(): "truncatedNON_PARTICIPATING",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestVariationsKnowTheirShape(t *testing.T) {
	cases := []struct {
		variation             app.Variation
		size                  int
		event, flagged, timed bool
	}{
		{app.G1V1, 0, false, false, false},
		{app.G2V2, 7, true, true, true},
		{app.G2V3, 3, true, true, true},
		{app.G12V1, 11, false, false, false},
		{app.G22V5, 11, true, true, true},
		{app.G32V3, 11, true, true, true},
		{app.G32V8, 15, true, true, true},
		{app.G41V4, 9, false, false, false},
		{app.Of(111, 40), 40, true, false, false},
	}
	for _, tc := range cases {
		v := tc.variation
		if v.Size() != tc.size || v.Event() != tc.event || v.Flagged() != tc.flagged || v.Timed() != tc.timed {
			t.Errorf("%v: size %d, event %t, flagged %t, timed %t", v, v.Size(), v.Event(), v.Flagged(), v.Timed())
		}
	}
	if n := app.Of(30, 7); n.Known() || n.Kind() != 0 || n.Size() != 0 {
		t.Errorf("%v is known", n)
	}
}

func TestSequencesWrap(t *testing.T) {
	if got := app.Sequence(15).Next(); got != 0 {
		t.Errorf("15 is followed by %d", got)
	}
	c := app.Sequence(9).Single()
	if !c.First() || !c.Final() || c.Confirm() || c.Unsolicited() || c.Sequence() != 9 {
		t.Errorf("control is %v", c)
	}
}

func TestOnlySomeRequestsAreAnswered(t *testing.T) {
	var silent []string
	for f := range app.Function(132) {
		if f.Known() && !f.Answered() {
			silent = append(silent, f.String())
		}
	}
	want := "CONFIRM DIRECT_OPERATE_NR IMMED_FREEZE_NR FREEZE_CLEAR_NR FREEZE_AT_TIME_NR AUTH_REQ_NO_ACK " +
		"RESPONSE UNSOLICITED_RESPONSE AUTHENTICATE_RESP"
	if got := strings.Join(silent, " "); got != want {
		t.Errorf("silent: %s", got)
	}
}

func TestFlagsSayWhetherAValueIsGood(t *testing.T) {
	for flags, want := range map[app.Flags]bool{
		app.FlagOnline:                         true,
		app.FlagOnline | app.FlagRemoteForced:  true,
		app.FlagOnline | app.FlagRestart:       false,
		app.FlagOnline | app.FlagCommLost:      false,
		app.FlagLocalForced:                    false,
		0:                                      false,
		app.FlagOnline | app.FlagDiscontinuity: true,
	} {
		if flags.Good() != want {
			t.Errorf("%08b is good: %t", flags, flags.Good())
		}
	}
	if !app.IIN(0xFFFF).Has(app.IINEvents) || app.FlagOnline.Has(app.FlagRestart) {
		t.Error("Has is wrong")
	}
}
