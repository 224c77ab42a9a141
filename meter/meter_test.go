package meter_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter"
)

const kwh15 = "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0"

func readingType(t testing.TB, text string) meter.ReadingType {
	t.Helper()
	r, err := meter.ParseReadingType(text)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAReadingTypeSaysWhatItMeans(t *testing.T) {
	r := readingType(t, kwh15)
	got := map[string]string{}
	for _, part := range []int{meter.MeasuringPeriod, meter.Accumulation, meter.FlowDirection, meter.CommodityKind, meter.MeasurementKind} {
		got[meter.PartName(part)] = r.Describe(part)
	}
	want := map[string]string{
		"measuringPeriod": "fifteenMinute", "accumulation": "deltaData", "flowDirection": "forward",
		"commodity": "electricitySecondaryMetered", "measurementKind": "energy",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error("parts (-want +got):\n" + diff)
	}
	if r.UnitName() != "kWh" || r.Length() != 15*time.Minute || r.String() != kwh15 || r.Check() != nil {
		t.Errorf("%s: %s, %s, %v", r, r.UnitName(), r.Length(), r.Check())
	}
	gas := readingType(t, "0.0.7.4.1.7.58.0.0.0.0.0.0.0.0.0.42.0")
	if gas.UnitName() != "m³" || gas.Length() != time.Hour || gas.Check() != nil {
		t.Errorf("%s: %s, %s, %v", gas, gas.UnitName(), gas.Length(), gas.Check())
	}
}

func TestReadingTypesThatAreNoneAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                                         "has 1 parts",
		"0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72":      "has 17 parts",
		"0.0.2.4.1.1.x.0.0.0.0.0.0.0.0.3.72.0":     `part 7 (measurementKind): "x"`,
		"0.0.2.4.1.1..0.0.0.0.0.0.0.0.3.72.0":      `part 7 (measurementKind): ""`,
		"0.0.2.4.1.1.+1.0.0.0.0.0.0.0.0.3.72.0":    `part 7 (measurementKind): "+1"`,
		"0.0.02.4.1.1.1.0.0.0.0.0.0.0.0.3.72.0":    `part 3 (measuringPeriod): "02"`,
		"99999.0.2.4.1.1.1.0.0.0.0.0.0.0.0.3.72.0": "part 1 (macroPeriod)",
		strings.Repeat("1", 10000):                 "…",
	} {
		_, err := meter.ParseReadingType(text)
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 300 {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
}

func TestCheckNamesEveryPartThatTheStandardDoesNotList(t *testing.T) {
	err := readingType(t, "7.0.99.4.1.1.12.0.0.1.0.0.0.0.0.13.72.0").Check()
	want := "macroPeriod: 7: the standard lists no such value\nmeasuringPeriod: 99: the standard lists no such value\n" +
		"multiplier: 13: the standard lists no such value\nargument.denominator: 0: write 1 or more beside a numerator"
	if err == nil || err.Error() != want {
		t.Errorf("problems:\n%v\nwant:\n%s", err, want)
	}
}

func TestPropertyReadingTypesComeBackFromTheirText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r meter.ReadingType
		for i := range r {
			r[i] = rapid.Int16().Draw(t, "part")
		}
		if back, err := meter.ParseReadingType(r.String()); err != nil || back != r {
			t.Fatalf("%s came back as %s, %v", r, back, err)
		}
	})
}

func TestOBISCodesAreReadInBothForms(t *testing.T) {
	for _, text := range []string{"1-0:1.8.0*255", "1-0:1.8.0", "1.0.1.8.0.255"} {
		o, err := meter.ParseOBIS(text)
		if err != nil || o != (meter.OBIS{1, 0, 1, 8, 0, 255}) || o.String() != "1-0:1.8.0*255" {
			t.Errorf("%q: %v, %v", text, o, err)
		}
		if c, ok := o.Commodity(); !ok || c != meter.Electricity {
			t.Errorf("%q: commodity %s", text, c)
		}
	}
	for _, text := range []string{"", "1", "1-0:1.8", "1-0:1.8.256", "1.0.1.8.0", "1-0:1.8.0*", "1-0:1.8.0*255*1", "1.0.1.8.0.255.1", "+1-0:1.8.0", "1-0:1..0"} {
		if o, err := meter.ParseOBIS(text); err == nil {
			t.Errorf("%q is read as %s", text, o)
		}
	}
}

func TestARegisterAdvances(t *testing.T) {
	five := meter.Register{Digits: 5, Decimals: 2}
	tests := map[string]struct {
		register        meter.Register
		from, to, limit float64
		want            float64
		how             meter.Advance
	}{
		"forward":                          {five, 100, 112.5, 50, 12.5, meter.Forward},
		"stands":                           {five, 100, 100, 50, 0, meter.Forward},
		"rolls over":                       {five, 99990.10, 5.20, 50, 15.10, meter.RollOver},
		"rolls over, limit unknown":        {five, 99990, 5, 0, 15, meter.RollOver},
		"is reset":                         {five, 50000, 3, 50, 3, meter.Reset},
		"counts down":                      {five, 50000, 49990, 50, -10, meter.Backward},
		"counts down, limit unknown":       {five, 50000, 49990, 0, -10, meter.Backward},
		"digits unknown, cannot roll over": {meter.Register{}, 99990, 5, 0, -99985, meter.Backward},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, how := tt.register.Difference(tt.from, tt.to, tt.limit)
			if got != tt.want || how != tt.how {
				t.Errorf("%v %s, want %v %s", got, how, tt.want, tt.how)
			}
		})
	}
}

func TestAMeterNamesAllItsProblems(t *testing.T) {
	good := meter.Channel{Number: 1, ReadingType: readingType(t, kwh15), Interval: 15 * time.Minute, Multiplier: 1, Register: meter.Register{Digits: 6, Decimals: 3}}
	if err := (meter.Meter{ID: "M1", Commodity: meter.Electricity, Channels: []meter.Channel{good}}).Validate(); err != nil {
		t.Errorf("a good meter: %v", err)
	}
	bad := good
	bad.Interval, bad.Multiplier, bad.Register.Digits = time.Hour, 0, 16
	err := meter.Meter{Channels: []meter.Channel{good, bad}}.Validate()
	for _, want := range []string{"id: missing", "commodity: write", "interval: 1h0m0s: the reading type says 15m0s", "multiplier: 0", "16 digits", "number 1 is given twice"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("problems lack %q:\n%v", want, err)
		}
	}
}

func TestNamesComeBack(t *testing.T) {
	for c := meter.Electricity; c <= meter.Water; c++ {
		if back, err := meter.ParseCommodity(c.String()); err != nil || back != c {
			t.Errorf("%s: %v %v", c, back, err)
		}
	}
	for k := meter.OtherEvent; k <= meter.Connected; k++ {
		if back, err := meter.ParseEventKind(k.String()); err != nil || back != k {
			t.Errorf("%s: %v %v", k, back, err)
		}
	}
	code, err := meter.ParseEventCode("3.26.0.85")
	if err != nil || code.String() != "3.26.0.85" {
		t.Errorf("event code: %v %v", code, err)
	}
	for _, text := range []string{"", "1.2.3", "1.2.3.x", "1.2.3.65536", "1.2.3.4.5"} {
		if _, err := meter.ParseEventCode(text); err == nil {
			t.Errorf("event code %q is accepted", text)
		}
	}
	if meter.LastGasp.Severity() != meter.Critical || meter.Restoration.Severity() != meter.Information {
		t.Error("severity of last gasp or restoration")
	}
}

func FuzzParsersAcceptOnlyWhatTheyPrint(f *testing.F) {
	f.Add(kwh15)
	f.Add("1-0:1.8.0*255")
	f.Add("3.26.0.85")
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := meter.ParseReadingType(text); err == nil && r.String() != text {
			t.Errorf("reading type %q printed as %s", text, r)
		}
		if o, err := meter.ParseOBIS(text); err == nil {
			if back, err := meter.ParseOBIS(o.String()); err != nil || back != o {
				t.Errorf("OBIS %q: %v, %v", text, back, err)
			}
		}
		_, _ = meter.ParseEventCode(text)
	})
}

func TestAnEventIsALineOfTextAndComesBack(t *testing.T) {
	for _, e := range []meter.Event{
		{Kind: meter.LastGasp, Severity: meter.Critical, Code: meter.EventCode{3, 26, 0, 85}, Detail: "phase 1  lost "},
		{Kind: meter.Tamper, Severity: meter.Information},
	} {
		var back meter.Event
		if err := back.SetText(e.Text()); err != nil || back != e {
			t.Errorf("%q: %+v, %v", e.Text(), back, err)
		}
	}
	for _, text := range []string{"", "last-gasp", "last-gasp critical", "no critical 0.0.0.0", "last-gasp no 0.0.0.0", "last-gasp critical 0.0"} {
		if err := new(meter.Event).SetText(text); err == nil {
			t.Errorf("%q is no event", text)
		}
	}
}

func TestACodeSaysTheKind(t *testing.T) {
	for text, want := range map[string]meter.EventKind{
		"3.26.0.85": meter.LastGasp, "3.26.136.47": meter.LastGasp, "3.26.0.216": meter.Restoration, "0.12.0.257": meter.Tamper, "3.38.1.93": meter.VoltageHigh,
		"3.31.0.68": meter.Disconnected, "3.99.0.85": meter.OtherEvent, "0.0.0.0": meter.OtherEvent,
	} {
		if c, err := meter.ParseEventCode(text); err != nil || c.Kind() != want {
			t.Errorf("%s is %v, want %v", text, c.Kind(), want)
		}
	}
}
