package interval_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"voltbus/meter/interval"
)

func grid(t testing.TB, length time.Duration, zone string) interval.Grid {
	t.Helper()
	loc, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	g, err := interval.New(length, loc)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestADayHasAsManyIntervalsAsItsClockSays(t *testing.T) {
	tests := map[string]struct {
		zone   string
		length time.Duration
		year   int
		month  time.Month
		day    int
		want   int
		hours  float64
		start  string
	}{
		"ordinary":                            {"Europe/Berlin", 15 * time.Minute, 2024, 1, 15, 96, 24, "2024-01-14T23:00:00Z"},
		"clock goes forward at 02:00":         {"Europe/Berlin", 15 * time.Minute, 2024, 3, 31, 92, 23, "2024-03-30T23:00:00Z"},
		"clock goes back at 03:00":            {"Europe/Berlin", 15 * time.Minute, 2024, 10, 27, 100, 25, "2024-10-26T22:00:00Z"},
		"hours, clock goes back":              {"America/New_York", time.Hour, 2024, 11, 3, 25, 25, "2024-11-03T04:00:00Z"},
		"days, clock goes back":               {"America/New_York", 24 * time.Hour, 2024, 11, 3, 1, 25, "2024-11-03T04:00:00Z"},
		"six hours, clock goes forward":       {"Europe/Berlin", 6 * time.Hour, 2024, 3, 31, 4, 23, "2024-03-30T23:00:00Z"},
		"half an hour forward":                {"Australia/Lord_Howe", 30 * time.Minute, 2024, 10, 6, 47, 23.5, "2024-10-05T13:30:00Z"},
		"half an hour, hours":                 {"Australia/Lord_Howe", time.Hour, 2024, 10, 6, 24, 23.5, "2024-10-05T13:30:00Z"},
		"midnight does not exist":             {"America/Sao_Paulo", time.Hour, 2018, 11, 4, 23, 23, "2018-11-04T03:00:00Z"},
		"midnight is set back to 23:00":       {"America/Sao_Paulo", time.Hour, 2018, 2, 17, 25, 25, "2018-02-17T02:00:00Z"},
		"midnight exists twice":               {"America/Havana", time.Hour, 2023, 11, 5, 25, 25, "2023-11-05T04:00:00Z"},
		"offset of three quarters of an hour": {"Asia/Kathmandu", 15 * time.Minute, 2024, 5, 1, 96, 24, "2024-04-30T18:15:00Z"},
		"a date that was left out":            {"Pacific/Apia", time.Hour, 2011, 12, 30, 0, 0, "2011-12-30T10:00:00Z"},
		"seconds":                             {"UTC", time.Second, 2024, 1, 1, 86400, 24, "2024-01-01T00:00:00Z"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := grid(t, tt.length, tt.zone).Day(tt.year, tt.month, tt.day)
			if got := d.Count(); got != tt.want {
				t.Errorf("intervals: %d, want %d", got, tt.want)
			}
			if got := d.Length().Hours(); got != tt.hours {
				t.Errorf("length: %v h, want %v h", got, tt.hours)
			}
			start, _ := d.Bounds()
			if got := start.UTC().Format(time.RFC3339); got != tt.start {
				t.Errorf("start: %s, want %s", got, tt.start)
			}
		})
	}
}

func TestAnIntervalThatEndsAtMidnightBelongsToTheDayBefore(t *testing.T) {
	g := grid(t, 15*time.Minute, "Europe/Berlin")
	midnight := time.Date(2024, 10, 28, 0, 0, 0, 0, g.Zone())
	d := g.DayOf(midnight)
	if _, _, day := d.Date(); day != 27 {
		t.Errorf("day: %d, want 27", day)
	}
	if i, ok := d.Index(midnight); !ok || i != 99 {
		t.Errorf("index: %d %v, want 99", i, ok)
	}
}

func TestTheHourThatExistsTwiceHasEightIntervalsOfItsOwn(t *testing.T) {
	g := grid(t, 15*time.Minute, "Europe/Berlin")
	first := time.Date(2024, 10, 27, 0, 15, 0, 0, time.UTC) // 02:15 CEST
	second := first.Add(time.Hour)                          // 02:15 CET
	i, _ := g.DayOf(first).Index(first)
	j, _ := g.DayOf(second).Index(second)
	if i != 8 || j != 12 {
		t.Errorf("indices of 02:15: %d and %d, want 8 and 12", i, j)
	}
}

func TestSixHoursFollowTheWallClock(t *testing.T) {
	d := grid(t, 6*time.Hour, "Europe/Berlin").Day(2024, 3, 31)
	var got []float64
	for i := range d.Count() {
		got = append(got, d.End(i).Sub(d.Start(i)).Hours())
	}
	if diff := cmp.Diff([]float64{5, 6, 6, 6}, got); diff != "" {
		t.Error("hours (-want +got):\n" + diff)
	}
}

func TestLengthsThatDoNotDivideADayAreRefused(t *testing.T) {
	for _, length := range []time.Duration{0, time.Millisecond, 1500 * time.Millisecond, 7 * time.Minute, 25 * time.Hour} {
		if _, err := interval.New(length, time.UTC); err == nil {
			t.Errorf("a length of %s is accepted", length)
		}
	}
	if _, err := interval.New(time.Hour, nil); err == nil {
		t.Error("a grid without a zone is accepted")
	}
}

func TestGapsOfADayAreListed(t *testing.T) {
	d := grid(t, time.Hour, "UTC").Day(2024, 1, 1)
	missing := map[int]bool{0: true, 5: true, 6: true, 23: true}
	c := d.Completeness(func(i int) bool { return !missing[i] })
	want := interval.Completeness{Have: 20, Want: 24, Gaps: []interval.Gap{{First: 0, Last: 0}, {First: 5, Last: 6}, {First: 23, Last: 23}}}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error("completeness (-want +got):\n" + diff)
	}
	if c.Complete() || !d.Completeness(func(int) bool { return true }).Complete() {
		t.Error("Complete does not follow the gaps")
	}
}

var zones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "America/Havana", "America/Sao_Paulo", "Africa/Casablanca"}

func anyGrid(t *rapid.T) interval.Grid {
	zone, err := time.LoadLocation(rapid.SampledFrom(zones).Draw(t, "zone"))
	if err != nil {
		t.Fatal(err)
	}
	length := rapid.SampledFrom([]time.Duration{time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}).Draw(t, "length")
	g, err := interval.New(length, zone)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestPropertyIntervalsCoverEachDayOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		d := g.Day(rapid.IntRange(2005, 2030).Draw(t, "year"), 1, rapid.IntRange(1, 366).Draw(t, "day"))
		start, end := d.Bounds()
		var sum time.Duration
		for i := range d.Count() {
			length := d.End(i).Sub(d.Start(i))
			if length <= 0 {
				t.Fatalf("interval %d lasts %s", i, length)
			}
			sum += length
			if j, ok := d.Index(d.End(i)); !ok || j != i {
				t.Fatalf("index of the end of %d: %d %v", i, j, ok)
			}
		}
		if sum != end.Sub(start) {
			t.Fatalf("intervals last %s, the day %s", sum, end.Sub(start))
		}
		next, _ := d.Next().Bounds()
		if !next.Equal(end) {
			t.Fatalf("the next day begins at %s, this one ends at %s", next, end)
		}
		if got := g.DayOf(end); got != d {
			t.Fatalf("day of its last end: %v, want %v", got, d)
		}
	})
}

func TestPropertyNextIsTheFirstEndBehindAMoment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGrid(t)
		at := time.Unix(rapid.Int64Range(1_100_000_000, 1_900_000_000).Draw(t, "at"), 0)
		end := g.Next(at)
		if !end.After(at) || !g.Aligned(end) {
			t.Fatalf("next of %s: %s", at, end)
		}
		count := 0
		g.Span(at, end, func(_, _ time.Time) bool { count++; return true })
		if count != 1 {
			t.Fatalf("%d ends after %s and until %s, want 1", count, at, end)
		}
	})
}
