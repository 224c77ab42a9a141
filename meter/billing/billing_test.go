package billing_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter"
	"voltbus/meter/billing"
	"voltbus/meter/interval"
)

// tariff has one switch at noon on working days.
func tariff(zone string) billing.Tariff {
	return billing.Tariff{
		Zone: zone, Periods: []string{"high", "low"},
		Seasons: []billing.Season{{Name: "year", From: "01-01", Types: []billing.DayType{
			{Name: "work", Days: []string{"mon", "tue", "wed", "thu", "fri"}, Schedule: []billing.Switch{{From: "00:00", Period: "low"}, {From: "02:00", Period: "high"}, {From: "12:00", Period: "low"}}},
			{Name: "free", Days: []string{"sat", "sun"}, Schedule: []billing.Switch{{From: "00:00", Period: "low"}, {From: "01:30", Period: "high"}}},
		}}},
	}
}

func compile(t interface{ Fatal(args ...any) }, doc billing.Tariff) *billing.Calendar {
	c, err := billing.Compile(doc)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAllProblemsOfATariffAreToldAtOnce(t *testing.T) {
	doc := tariff("Europe/Atlantis")
	doc.Periods = []string{"high", "low", "low"}
	doc.Holidays = []billing.Holiday{{Name: "two", Date: "12-25", Easter: new(1)}, {Date: "13-01"}, {Name: "w", Weekday: &billing.Weekday{Nth: 5, Day: "holiday", Month: 13}}, {Name: "e", Easter: new(400)}}
	doc.Seasons[0].From = "02-29"
	doc.Seasons[0].Types[0].Days = []string{"mon", "mon", "moon"}
	doc.Seasons[0].Types[1].Schedule = []billing.Switch{{From: "01:00", Period: "low"}, {From: "24:00", Period: "middle"}}
	err := doc.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		`zone: "Europe/Atlantis": write an IANA name`,
		`periods[2]: "low": write a name that no other period has`,
		`holidays[0]: 2 of date, easter and weekday: write exactly one`,
		`holidays[1].name: missing`,
		`holidays[1].date: "13-01": write such as`,
		`holidays[2].weekday.day: "holiday": write mon`,
		`holidays[2].weekday.nth: 5: write 1 to 4`,
		`holidays[2].weekday.month: 13: write 1 to 12`,
		`holidays[3].easter: 400`,
		`seasons[0].from: "02-29": write month and day`,
		`seasons[0].dayTypes[0].days: mon is given twice`,
		`seasons[0].dayTypes[0].days: "moon": write mon`,
		`seasons[0].dayTypes[1].schedule[0].from: "01:00": the first switch is at 00:00`,
		`seasons[0].dayTypes[1].schedule[1].from: "24:00": write a time`,
		`seasons[0].dayTypes[1].schedule[1].period: "middle": not one of`,
		`seasons[0]: no day type has tue`,
		`seasons[0]: no day type has holiday`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not told: %s\nin:\n%v", want, err)
		}
	}
}

func TestHolidaysFollowTheirRules(t *testing.T) {
	doc := tariff("Europe/Berlin")
	doc.Seasons[0].Types[1].Days = append(doc.Seasons[0].Types[1].Days, "holiday")
	doc.Holidays = []billing.Holiday{
		{Name: "Christmas", Date: "12-25"},
		{Name: "once", Date: "2024-06-07"},
		{Name: "Easter Monday", Easter: new(1)},
		{Name: "Thanksgiving", Weekday: &billing.Weekday{Nth: 4, Day: "thu", Month: 11}},
		{Name: "Memorial Day", Weekday: &billing.Weekday{Nth: -1, Day: "mon", Month: 5}},
	}
	c := compile(t, doc)
	tests := map[string]bool{
		"2024-12-25": true, "2031-12-25": true, "2024-12-24": false, "2024-06-07": true, "2025-06-07": false,
		"2024-04-01": true, "2025-04-21": true, "2038-04-26": true, "2019-04-22": true, "2024-11-28": true, "2024-11-21": false,
		"2024-05-27": true, "2024-05-20": false, "2021-05-31": true,
	}
	for text, want := range tests {
		date, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Holiday(date.Date()); got != want {
			t.Errorf("%s: holiday %v, want %v", text, got, want)
		}
	}
}

func TestTheLastSeasonContinuesIntoTheNextYear(t *testing.T) {
	doc := tariff("UTC")
	week := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	season := func(from, period string) billing.Season {
		return billing.Season{Name: period, From: from, Types: []billing.DayType{{Name: "all", Days: week, Schedule: []billing.Switch{{From: "00:00", Period: period}}}}}
	}
	doc.Seasons = []billing.Season{season("04-01", "low"), season("10-01", "high")}
	c := compile(t, doc)
	for text, want := range map[string]int{"2024-03-31T23:59:59Z": 0, "2024-04-01T00:00:00Z": 1, "2024-09-30T23:59:59Z": 1, "2024-10-01T00:00:00Z": 0, "2025-01-01T00:00:00Z": 0} {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.At(at); got != want {
			t.Errorf("%s: period %d, want %d", text, got, want)
		}
	}
}

func TestABillIsReproducedAsItWasKnown(t *testing.T) {
	cal := compile(t, tariff("Europe/Berlin"))
	from := time.Date(2024, 10, 27, 0, 0, 0, 0, cal.Zone())
	to := from.AddDate(0, 0, 1)
	billed := to.Add(time.Hour)
	var h meter.History
	bill := func(known time.Time) billing.Use {
		s := series(t, 30*time.Minute, cal.Zone(), from, to)
		if stray, err := s.Read(billing.Source{History: &h, Multiplier: 2}, known); err != nil || stray != 0 {
			t.Fatalf("stray %d: %v", stray, err)
		}
		scope, err := cal.Scope(s)
		if err != nil {
			t.Fatal(err)
		}
		uses, err := scope.Use(s)
		if err != nil {
			t.Fatal(err)
		}
		return uses[1]
	}
	add := func(recorded time.Time, v float64, stage meter.Stage) {
		if _, err := h.Add([]meter.Version{{End: from.Add(time.Hour), Recorded: recorded, Value: v, Stage: stage}}); err != nil {
			t.Fatal(err)
		}
	}
	add(to, 3, meter.Estimated)
	before := bill(billed)
	add(billed.Add(time.Hour), 5, meter.Edited)
	if diff := cmp.Diff(before, bill(billed)); diff != "" {
		t.Error("the bill as known then changed:\n" + diff)
	}
	// Sunday: low from 00:00 to 01:30; the interval from 00:30 to 01:00 has 3, times the multiplier of 2.
	if before.Quantity != 6 || before.Estimated != 1 {
		t.Errorf("then: %+v, want 6 with one estimate", before)
	}
	if now := bill(billed.Add(2 * time.Hour)); now.Quantity != 10 || now.Edited != 1 {
		t.Errorf("now: %+v, want 10 with one edit", now)
	}
}

func TestARegisterIsFrozenAtTheBillDate(t *testing.T) {
	at := time.Date(2024, 10, 27, 22, 0, 0, 0, time.UTC)
	tests := map[string]struct {
		reads map[time.Duration]float64
		want  float64
		told  string
	}{
		"read then":          {map[time.Duration]float64{-time.Hour: 1, 0: 7, time.Hour: 9}, 7, ""},
		"between two":        {map[time.Duration]float64{-time.Hour: 10, 3 * time.Hour: 14, 4 * time.Hour: 90}, 11, ""},
		"rolled over before": {map[time.Duration]float64{-time.Hour: 999, time.Hour: 3}, 1, ""},
		"none after":         {map[time.Duration]float64{-time.Hour: 10}, 0, "no reading then"},
		"too far away":       {map[time.Duration]float64{-time.Hour: 10, 25 * time.Hour: 11}, 0, "no reading then"},
		"it fell":            {map[time.Duration]float64{-time.Hour: 500, time.Hour: 400}, 0, "backward"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var h meter.History
			for d, v := range tt.reads {
				if _, err := h.Add([]meter.Version{{End: at.Add(d), Recorded: at, Value: v}}); err != nil {
					t.Fatal(err)
				}
			}
			got, err := billing.Freeze(&h, meter.Register{Digits: 3}, at, 24*time.Hour, at)
			if tt.told != "" {
				if err == nil || !strings.Contains(err.Error(), tt.told) {
					t.Fatalf("error %v, want %q", err, tt.told)
				}
				return
			}
			if err != nil || got.Value != tt.want {
				t.Fatalf("%+v %v, want %v", got, err, tt.want)
			}
		})
	}
}

func TestWrongUseIsRefused(t *testing.T) {
	cal := compile(t, tariff("UTC"))
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	s := series(t, 15*time.Minute, time.UTC, day, day.AddDate(0, 0, 1))
	scope, err := cal.Scope(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []time.Duration{0, 10 * time.Minute, 45 * time.Minute, 2 * time.Hour} {
		if _, err := scope.Peaks(s, billing.Window{Length: w}); err == nil {
			t.Errorf("a window of %s is accepted", w)
		}
	}
	if _, err := scope.Use(series(t, 15*time.Minute, time.UTC, day, day.AddDate(0, 0, 2))); err == nil {
		t.Error("a series of other dates is accepted")
	}
	if _, err := cal.Scope(series(t, time.Hour, time.UTC, day, day.AddDate(0, 0, 1))); err == nil {
		t.Error("a switch at 01:30 inside an interval of 1 h is accepted")
	}
	if _, err := billing.NewSeries(s.Grid, day.Add(time.Hour), day.AddDate(0, 0, 1)); err == nil {
		t.Error("a bill date at 01:00 is accepted")
	}
}

func anyBill(t *rapid.T) (*billing.Scope, *billing.Series) {
	zone := rapid.SampledFrom([]string{"UTC", "Europe/Berlin", "America/New_York", "America/Havana", "America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe"}).Draw(t, "zone")
	cal := compile(t, tariff(zone))
	length := rapid.SampledFrom([]time.Duration{5 * time.Minute, 15 * time.Minute, 30 * time.Minute}).Draw(t, "length")
	grid, err := interval.New(length, cal.Zone())
	if err != nil {
		t.Fatal(err)
	}
	first := rapid.IntRange(1, 366).Draw(t, "day")
	year := rapid.IntRange(2015, 2026).Draw(t, "year")
	from, _ := grid.Day(year, 1, first).Bounds()
	to, _ := grid.Day(year, 1, first+rapid.IntRange(1, 10).Draw(t, "days")).Bounds()
	s, err := billing.NewSeries(grid, from, to)
	if err != nil {
		t.Fatal(err)
	}
	seed := rapid.Uint32().Draw(t, "seed")
	for i := range s.Values {
		seed = seed*1664525 + 1013904223
		s.Values[i] = float64(seed >> 24)
		if seed>>16&0x3f == 0 {
			s.Values[i] = math.NaN()
		}
	}
	scope, err := cal.Scope(s)
	if err != nil {
		t.Fatal(err)
	}
	return scope, s
}

func TestPropertyPeriodsPartitionTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, s := anyBill(t)
		uses, err := scope.Use(s)
		if err != nil {
			t.Fatal(err)
		}
		want, missing := 0.0, 0
		for _, v := range s.Values {
			if math.IsNaN(v) {
				missing++
			} else {
				want += v
			}
		}
		var got float64
		count := 0
		for _, u := range uses {
			got, count, missing = got+u.Quantity, count+u.Intervals, missing-u.Missing
		}
		if got != want || count != len(s.Values) || missing != 0 {
			t.Fatalf("periods: %v in %d intervals, %d missing not counted; series %v in %d", got, count, missing, want, len(s.Values))
		}
	})
}

func TestPropertyRollingPeakIsNotBelowBlockPeak(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, s := anyBill(t)
		length := rapid.SampledFrom([]time.Duration{30 * time.Minute, time.Hour}).Draw(t, "window")
		for i, v := range s.Values {
			if math.IsNaN(v) {
				s.Values[i] = 0
			}
		}
		block, err := scope.Peaks(s, billing.Window{Length: length})
		if err != nil {
			t.Fatal(err)
		}
		rolling, err := scope.Peaks(s, billing.Window{Length: length, Rolling: true})
		if err != nil {
			t.Fatal(err)
		}
		for i := range block {
			if block[i].Demand > rolling[i].Demand {
				t.Fatalf("%s: block %v, rolling %v", block[i].Period, block[i], rolling[i])
			}
		}
	})
}

func TestNettingByIntervalAndOverTheWholeTime(t *testing.T) {
	cal := compile(t, tariff("UTC"))
	day := time.Date(2024, 1, 6, 0, 0, 0, 0, time.UTC) // Saturday: low until 01:30
	imported := series(t, 30*time.Minute, time.UTC, day, day.AddDate(0, 0, 1))
	exported := series(t, 30*time.Minute, time.UTC, day, day.AddDate(0, 0, 1))
	copy(imported.Values, []float64{5, 1, 2})
	copy(exported.Values, []float64{2, 4})
	scope, err := cal.Scope(imported)
	if err != nil {
		t.Fatal(err)
	}
	nets, err := scope.Net(imported, exported)
	if err != nil {
		t.Fatal(err)
	}
	want := billing.Net{Period: "low", Import: 6, Export: 6, Net: 0, NetImport: 3, NetExport: 3, Intervals: 3, MissingPair: 1}
	if diff := cmp.Diff(want, nets[1]); diff != "" {
		t.Error("low (-want +got):\n" + diff)
	}
}

func TestAMeterExchangeIsOneSeriesOfTwoSources(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	exchange := day.Add(12 * time.Hour)
	s := series(t, 30*time.Minute, time.UTC, day, day.AddDate(0, 0, 1))
	read := func(value, multiplier float64, from, to time.Time) {
		var h meter.History
		for _, end := range s.Ends {
			if _, err := h.Add([]meter.Version{{End: end, Value: value}}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.Read(billing.Source{History: &h, Multiplier: multiplier, From: from, To: to}, s.End); err != nil {
			t.Fatal(err)
		}
	}
	read(1, 1, time.Time{}, exchange)
	read(1, 10, exchange, time.Time{})
	if s.Values[23] != 1 || s.Values[24] != 10 {
		t.Errorf("around the exchange: %v and %v, want 1 and 10", s.Values[23], s.Values[24])
	}
}

func TestPropertyNettingKeepsTheBalance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		scope, imported := anyBill(t)
		exported := *imported
		exported.Values = make([]float64, len(imported.Values))
		for i := range exported.Values {
			exported.Values[i] = float64(i * 7 % 300)
		}
		nets, err := scope.Net(imported, &exported)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range nets {
			if n.NetImport-n.NetExport != n.Net || n.NetImport > n.Import || n.NetExport > n.Export {
				t.Fatalf("%+v", n)
			}
		}
	})
}

// BenchmarkBill computes a month of 15-minute intervals: reading the history, use and rolling peak.
func BenchmarkBill(b *testing.B) {
	cal, err := billing.Compile(tariff("Europe/Berlin"))
	if err != nil {
		b.Fatal(err)
	}
	from := time.Date(2024, 10, 1, 0, 0, 0, 0, cal.Zone())
	to := from.AddDate(0, 1, 0)
	s := series(b, 15*time.Minute, cal.Zone(), from, to)
	var h meter.History
	versions := make([]meter.Version, len(s.Ends))
	for i, end := range s.Ends {
		versions[i] = meter.Version{End: end, Recorded: to, Value: float64(i % 96)}
	}
	if _, err := h.Add(versions); err != nil {
		b.Fatal(err)
	}
	scope, err := cal.Scope(s)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Read(billing.Source{History: &h, Multiplier: 1}, to); err != nil {
			b.Fatal(err)
		}
		if _, err := scope.Use(s); err != nil {
			b.Fatal(err)
		}
		if _, err := scope.Peaks(s, billing.Window{Length: time.Hour, Rolling: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(s.Ends)*b.N)/b.Elapsed().Seconds(), "intervals/s")
}
