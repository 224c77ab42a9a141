package query

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// local writes an edge as the clock of the zone shows it, with its offset.
func local(t time.Time, zone *time.Location) string { return t.In(zone).Format("01-02T15:04Z07:00") }

func TestStepsFollowTheCalendarOfAZone(t *testing.T) {
	tests := []struct {
		name, zone, from, to, step string
		want                       []string
	}{
		{
			"the day that loses an hour in Berlin has 23", "Europe/Berlin", "2026-03-28T23:00:00Z", "2026-03-30T22:00:00Z", "1d",
			[]string{"03-29T00:00+01:00", "03-30T00:00+02:00", "03-31T00:00+02:00"},
		},
		{
			"the day that gains an hour in New York has 25", "America/New_York", "2026-11-01T12:00:00Z", "2026-11-02T12:00:00Z", "1d",
			[]string{"11-01T00:00-04:00", "11-02T00:00-05:00", "11-03T00:00-05:00"},
		},
		{
			"the hour that comes twice has two buckets", "Europe/Berlin", "2026-10-24T23:30:00Z", "2026-10-25T02:30:00Z", "1h",
			[]string{"10-25T01:00+02:00", "10-25T02:00+02:00", "10-25T02:00+01:00", "10-25T03:00+01:00", "10-25T04:00+01:00"},
		},
		{
			"six hours with the change in them last seven", "Europe/Berlin", "2026-10-24T22:00:00Z", "2026-10-25T12:00:00Z", "6h",
			[]string{"10-25T00:00+02:00", "10-25T06:00+01:00", "10-25T12:00+01:00", "10-25T18:00+01:00"},
		},
		{
			"in the south the clock goes back in April", "Australia/Sydney", "2026-04-04T14:00:00Z", "2026-04-04T17:00:00Z", "1h",
			[]string{"04-05T01:00+11:00", "04-05T02:00+11:00", "04-05T02:00+10:00", "04-05T03:00+10:00"},
		},
		{
			"a change of half an hour makes an hour of ninety minutes", "Australia/Lord_Howe", "2026-04-04T13:00:00Z", "2026-04-04T16:00:00Z", "1h",
			[]string{"04-05T00:00+11:00", "04-05T01:00+11:00", "04-05T02:00+10:30", "04-05T03:00+10:30"},
		},
		{
			"a jump of half an hour leaves half an hour", "Australia/Lord_Howe", "2026-10-03T14:30:00Z", "2026-10-03T16:30:00Z", "1h",
			[]string{"10-04T01:00+10:30", "10-04T02:30+11:00", "10-04T03:00+11:00", "10-04T04:00+11:00"},
		},
		{
			"quarters of hours go through a change of half an hour", "Australia/Lord_Howe", "2026-10-03T15:15:00Z", "2026-10-03T15:45:00Z", "15m",
			[]string{"10-04T01:45+10:30", "10-04T02:30+11:00", "10-04T02:45+11:00"},
		},
		{
			"hours begin on the local hour where the offset is odd", "Asia/Kathmandu", "2026-06-01T00:00:00Z", "2026-06-01T01:00:00Z", "1h",
			[]string{"06-01T05:00+05:45", "06-01T06:00+05:45", "06-01T07:00+05:45"},
		},
		{
			"a midnight that the clock leaves out begins an hour later", "America/Sao_Paulo", "2018-11-03T12:00:00Z", "2018-11-05T03:00:00Z", "1d",
			[]string{"11-03T00:00-03:00", "11-04T01:00-02:00", "11-05T00:00-02:00", "11-06T00:00-02:00"},
		},
		{
			"of a midnight that comes twice the first counts", "America/Havana", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z", "1d",
			[]string{"11-01T00:00-04:00", "11-02T00:00-05:00"},
		},
		{
			"a date that was left out has no bucket", "Pacific/Apia", "2011-12-29T12:00:00Z", "2011-12-31T10:00:00Z", "1d",
			[]string{"12-29T00:00-10:00", "12-31T00:00+14:00", "01-01T00:00+14:00"},
		},
		{
			"weeks begin on Monday", "Europe/Berlin", "2026-11-20T12:00:00Z", "2026-11-25T00:00:00Z", "1w",
			[]string{"11-16T00:00+01:00", "11-23T00:00+01:00", "11-30T00:00+01:00"},
		},
		{
			"months have their own lengths", "Pacific/Auckland", "2026-01-31T11:00:00Z", "2026-04-30T11:00:00Z", "1mo",
			[]string{"02-01T00:00+13:00", "03-01T00:00+13:00", "04-01T00:00+13:00", "05-01T00:00+12:00"},
		},
		{
			"quarters begin in January, April, July and October", "America/New_York", "2026-05-05T00:00:00Z", "2026-08-01T00:00:00Z", "1q",
			[]string{"04-01T00:00-04:00", "07-01T00:00-04:00", "10-01T00:00-04:00"},
		},
		{
			"years begin in January", "Asia/Kolkata", "2025-12-31T18:30:00Z", "2026-12-31T18:30:00Z", "1y",
			[]string{"01-01T00:00+05:30", "01-01T00:00+05:30"},
		},
		{
			"two days count from the same day whatever is asked", "UTC", "2026-11-20T12:00:00Z", "2026-11-22T12:00:00Z", "2d",
			[]string{"11-20T00:00Z", "11-22T00:00Z", "11-24T00:00Z"},
		},
		{
			"a week before 1970 begins on Monday too", "UTC", "1969-12-20T00:00:00Z", "1969-12-23T00:00:00Z", "1w",
			[]string{"12-15T00:00Z", "12-22T00:00Z", "12-29T00:00Z"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			zone, err := ParseZone(tt.zone)
			if err != nil {
				t.Fatal(err)
			}
			step, err := ParseStep(tt.step)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range step.edges(instant(t, tt.from), instant(t, tt.to), zone) {
				got = append(got, local(e, zone))
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func instant(t *testing.T, s string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestWithoutAZoneStepsBeginAtTheBeginning(t *testing.T) {
	from := time.Date(2026, 3, 1, 12, 34, 0, 0, time.UTC)
	got := Step{Duration: 7 * time.Minute}.edges(from, from.Add(15*time.Minute), nil)
	want := []time.Time{from, from.Add(7 * time.Minute), from.Add(14 * time.Minute), from.Add(21 * time.Minute)}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Whatever is asked: edges ascend, hold the range, and show round times of the clock unless it jumps.
func TestEdgesHoldTheRange(t *testing.T) {
	zones := []string{
		"UTC", "Europe/Berlin", "America/St_Johns", "America/Sao_Paulo", "America/Havana", "Asia/Tehran", "Asia/Kathmandu",
		"Australia/Lord_Howe", "Australia/Adelaide", "Pacific/Apia", "Pacific/Chatham", "Africa/Casablanca", "Antarctica/Troll",
	}
	rapid.Check(t, func(r *rapid.T) {
		zone, err := ParseZone(rapid.SampledFrom(zones).Draw(r, "zone"))
		if err != nil {
			r.Fatal(err)
		}
		step, err := ParseStep(rapid.SampledFrom([]string{"15m", "30m", "1h", "2h", "3h", "6h", "12h", "1d", "2d", "1w", "1mo", "1q", "1y"}).Draw(r, "step"))
		if err != nil {
			r.Fatal(err)
		}
		from := time.Unix(rapid.Int64Range(0, 1_900_000_000).Draw(r, "from"), 0).UTC()
		to := from.Add(time.Duration(rapid.Int64Range(1, 10*86_400).Draw(r, "seconds")) * time.Second)
		edges := step.edges(from, to, zone)
		n := len(edges)
		if n < 2 || edges[0].After(from) || !edges[1].After(from) || edges[n-1].Before(to) || !edges[n-2].Before(to) {
			r.Fatalf("%v to %v gives %v", from, to, edges)
		}
		if !slices.IsSortedFunc(edges, func(a, b time.Time) int {
			if a.Before(b) {
				return -1
			}
			return 1
		}) {
			r.Fatalf("not ascending: %v", edges)
		}
		for _, e := range edges {
			begin, _ := e.In(zone).ZoneBounds()
			if shown := fmt.Sprint(e.In(zone).Minute() % 15); shown != "0" && !begin.Equal(e) {
				r.Fatalf("the clock shows %s", e.In(zone))
			}
		}
	})
}

func TestStepsReadBack(t *testing.T) {
	for _, s := range []string{"1ms", "1500ms", "10s", "90s", "15m", "1h", "1d", "1w", "10d", "1mo", "1y"} {
		step, err := ParseStep(s)
		if err != nil || step.String() != s {
			t.Errorf("%s reads as %v, %v", s, step, err)
		}
	}
	for _, s := range []string{"", "h", "0h", "-1h", "1", "1 h", "1.5h", "99999999999h", "1M", "1H", "1hh", "1001y", "1000001m"} {
		if step, err := ParseStep(s); err == nil {
			t.Errorf("%q reads as %v", s, step)
		}
	}
	for _, s := range []string{"", "Local", "Mars/Olympus", "../../etc/passwd", "europe\x00"} {
		if zone, err := ParseZone(s); err == nil {
			t.Errorf("%q is the zone %v", s, zone)
		}
	}
}
