package schedule

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"voltbus/point"
)

// plan reads a schedule that needs no calendar.
func plan(t *testing.T, text string) *Plan {
	t.Helper()
	var s Schedule
	if err := Parse([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(&s, func(string) (Calendar, bool) { return Calendar{}, false })
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func at(t *testing.T, text string) time.Time {
	t.Helper()
	when, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return when
}

// changes writes the changes after an instant.
func changes(t *testing.T, p *Plan, after string, most int) string {
	t.Helper()
	var b strings.Builder
	for _, c := range p.Changes(at(t, after), most) {
		fmt.Fprintf(&b, "%s %s %s\n", c.Time.UTC().Format("2006-01-02T15:04Z"), c.Value.AppendJSON(nil), c.Why)
	}
	return b.String()
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if want = strings.TrimLeft(want, "\n"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

const workdays = `"monday":[{"at":"07:00","value":true},{"at":"18:00","value":false}],"tuesday":[{"at":"18:00","value":false},{"at":"07:00","value":true}]`

func TestADayBeginsWithTheDefaultAndTheWeekRepeats(t *testing.T) {
	p := plan(t, `{"name":"a","points":["b/x"],"week":{`+workdays+`}}`)
	want(t, changes(t, p, "2026-11-29T12:00:00Z", 7), `
2026-11-30T07:00Z true Monday
2026-11-30T18:00Z false Monday
2026-12-01T00:00Z null Tuesday
2026-12-01T07:00Z true Tuesday
2026-12-01T18:00Z false Tuesday
2026-12-02T00:00Z null Wednesday
2026-12-07T07:00Z true Monday
`)
	p = plan(t, `{"name":"a","points":["b/x"],"default":false,"week":{`+workdays+`}}`)
	want(t, changes(t, p, "2026-11-30T07:00:00Z", 2), `
2026-11-30T18:00Z false Monday
2026-12-01T07:00Z true Tuesday
`)
	if now := p.At(at(t, "2026-11-30T17:59:59Z")); now.Value != point.BoolOf(true) || !now.Time.Equal(at(t, "2026-11-30T07:00:00Z")) {
		t.Errorf("before six it is %+v", now)
	}
}

func TestTheFirstExceptionThatHasTheDateDecidesTheDay(t *testing.T) {
	var s Schedule
	if err := Parse([]byte(`{"name":"a","points":["b/x"],"week":{"friday":[{"at":"07:00","value":1}]},"exceptions":[
		{"date":"2026-12-25","name":"Party","day":[{"at":"20:00","value":2}]},{"calendar":"holidays"},{"first":"2026-12-24","last":"2026-12-31","day":[{"at":"00:00","value":3}]}]}`), &s); err != nil {
		t.Fatal(err)
	}
	calendars := map[string]Calendar{"holidays": {Name: "holidays", Dates: []CalendarEntry{{Dates: Dates{Yearly: "12-25"}}, {Dates: Dates{Yearly: "12-26"}}, {Dates: Dates{Yearly: "01-01"}}}}}
	p, err := NewPlan(&s, func(name string) (c Calendar, has bool) { c, has = calendars[name]; return c, has })
	if err != nil {
		t.Fatal(err)
	}
	want(t, changes(t, p, "2026-12-20T00:00:00Z", 6), `
2026-12-24T00:00Z 3 Exception
2026-12-25T00:00Z null Party
2026-12-25T20:00Z 2 Party
2026-12-26T00:00Z null holidays
2026-12-27T00:00Z 3 Exception
2027-01-01T00:00Z null holidays
`)
	delete(calendars, "holidays")
	if _, err := NewPlan(&s, func(string) (Calendar, bool) { return Calendar{}, false }); err == nil || !strings.Contains(err.Error(), "exceptions[1].calendar") {
		t.Errorf("a calendar that is not there gives %v", err)
	}
}

func TestNothingIsCommandedOutsideTheEffectivePeriod(t *testing.T) {
	p := plan(t, `{"name":"a","points":["b/x"],"default":5,"week":{},"from":"2026-12-01","to":"2026-12-02","time_zone":"Europe/Berlin"}`)
	want(t, changes(t, p, "2026-11-01T00:00:00Z", 9), `
2026-11-30T23:00Z 5 Tuesday
2026-12-02T23:00Z null not in effect
`)
	if _, more := p.Next(at(t, "2026-12-03T00:00:00Z")); more {
		t.Error("there is a change after the end")
	}
}

func TestTimesThatAClockSkipsOrShowsTwice(t *testing.T) {
	const days = `[{"at":"01:30","value":1},{"at":"02:15","value":2},{"at":"02:45","value":3},{"at":"03:30","value":4}]`
	p := plan(t, `{"name":"a","points":["b/x"],"time_zone":"Europe/Berlin","week":{"sunday":`+days+`}}`)
	// On 29 March 2026 clocks go from 02:00 to 03:00, at 01:00 UTC: both skipped times take effect then, the later one last.
	want(t, changes(t, p, "2026-03-28T12:00:00Z", 3), `
2026-03-29T00:30Z 1 Sunday
2026-03-29T01:00Z 3 Sunday
2026-03-29T01:30Z 4 Sunday
`)
	// On 25 October 2026 they go from 03:00 back to 02:00, at 01:00 UTC: each time takes effect once.
	want(t, changes(t, p, "2026-10-24T12:00:00Z", 5), `
2026-10-24T23:30Z 1 Sunday
2026-10-25T00:15Z 2 Sunday
2026-10-25T00:45Z 3 Sunday
2026-10-25T02:30Z 4 Sunday
2026-10-25T23:00Z null Monday
`)
	if now := p.At(at(t, "2026-10-25T01:20:00Z")); now.Value != point.IntOf(3) { // 02:20 for the second time
		t.Errorf("in the repeated hour it is %v", now.Value)
	}
	// In Cairo 24 April 2026 has no midnight: the clock goes from 23:59:59 to 01:00.
	p = plan(t, `{"name":"a","points":["b/x"],"time_zone":"Africa/Cairo","week":{"friday":[{"at":"00:30","value":1}]}}`)
	want(t, changes(t, p, "2026-04-23T12:00:00Z", 2), `
2026-04-23T22:00Z 1 Friday
2026-04-24T21:00Z null Saturday
`)
	// Samoa had no 30 December 2011.
	p = plan(t, `{"name":"a","points":["b/x"],"time_zone":"Pacific/Apia","week":{"friday":[{"at":"12:00","value":1}],"saturday":[{"at":"12:00","value":2}]}}`)
	want(t, changes(t, p, "2011-12-29T20:00:00Z", 2), `
2011-12-30T22:00Z 2 Saturday
2011-12-31T10:00Z null Sunday
`)
}

func TestDates(t *testing.T) {
	easterMonday, goodFriday := 1, -2
	for _, c := range []struct {
		dates Dates
		in    string
		not   string
	}{
		{Dates{Yearly: "02-29"}, "2028-02-29 2024-02-29", "2028-02-28 2028-03-01 2027-03-01 2027-02-28"},
		{Dates{Date: "2028-02-29"}, "2028-02-29", "2032-02-29"},
		{Dates{First: "2028-02-28", Last: "2028-03-01"}, "2028-02-28 2028-02-29 2028-03-01", "2028-02-27 2028-03-02"},
		{Dates{Weekday: "thursday", Month: 11, Week: 4}, "2026-11-26 2027-11-25", "2026-11-19 2026-12-24"},
		{Dates{Weekday: "monday", Month: 5, Week: -1}, "2026-05-25 2027-05-31", "2026-05-18 2027-05-24"},
		{Dates{Weekday: "friday", Week: 5}, "2026-01-30 2026-10-30", "2026-02-27 2026-11-27"},
		{Dates{Weekday: "sunday"}, "2026-11-29 2026-12-06", "2026-11-28"},
		{Dates{Easter: &easterMonday}, "2026-04-06 2027-03-29 2038-04-26", "2026-04-05 2027-04-06"},
		{Dates{Easter: &goodFriday}, "2026-04-03 2024-03-29 2000-04-21", "2026-04-05"},
	} {
		if err := c.dates.check("x"); err != nil {
			t.Errorf("%+v: %v", c.dates, err)
		}
		for days, has := range map[string]bool{c.in: true, c.not: false} {
			for text := range strings.FieldsSeq(days) {
				if d, err := parseDate(text); err != nil || c.dates.has(d) != has {
					t.Errorf("%+v has %s: %v, want %v (%v)", c.dates, text, !has, has, err)
				}
			}
		}
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	for text, says := range map[string]string{
		`{"name":"A B","points":["b/x"],"week":{}}`:                                                           "office-hours",
		`{"name":"a","points":[],"week":{}}`:                                                                  "b1/ahu1/occupied",
		`{"name":"a","points":["b/x","b/x"],"week":{}}`:                                                       "twice",
		`{"name":"a","points":["b/x"],"level":8,"week":{}}`:                                                   "9 to 16",
		`{"name":"a","points":["b/x"],"time_zone":"Mars/Olympus","week":{}}`:                                  "Europe/Berlin",
		`{"name":"a","points":["b/x"],"time_zone":"Local","week":{}}`:                                         "depends on the machine",
		`{"name":"a","points":["b/x"],"week":{"monday":[{"at":"24:00","value":1}]}}`:                          "00:00 to 23:59",
		`{"name":"a","points":["b/x"],"week":{"monday":[{"at":"7:00","value":1}]}}`:                           "07:30",
		`{"name":"a","points":["b/x"],"week":{"monday":[{"at":"07:00","value":[1]}]}}`:                        "must be a number",
		`{"name":"a","points":["b/x"],"week":{"monday":[{"at":"07:00","value":1},{"at":"07:00","value":2}]}}`: "twice",
		`{"name":"a","points":["b/x"],"week":{},"exceptions":[{"date":"2026-02-29"}]}`:                        "is not a date",
		`{"name":"a","points":["b/x"],"week":{},"exceptions":[{}]}`:                                           "0 kinds of dates",
		`{"name":"a","points":["b/x"],"week":{},"exceptions":[{"yearly":"02-30"}]}`:                           "12-25",
		`{"name":"a","points":["b/x"],"week":{},"exceptions":[{"weekday":"monday","month":5}]}`:               "-1 for the last",
		`{"name":"a","points":["b/x"],"week":{},"from":"2026-12-01","to":"2026-11-01"}`:                       "is before",
		`{"name":"a","points":["b/x"],"weekly":{}}`:                                                           "unknown field",
	} {
		var s Schedule
		err := Parse([]byte(text), &s)
		if err == nil {
			err = s.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s gives %v, want that it says %q", text, err, says)
		}
	}
}

// TestWhatHoldsIsWhatTheLastChangeSaid compares, in random schedules of random zones, what holds at an instant with the changes up to it.
func TestWhatHoldsIsWhatTheLastChangeSaid(t *testing.T) {
	zones := []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu", "America/St_Johns"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var s Schedule
		s.Name, s.Points, s.TimeZone = "a", []string{"b/x"}, zones[random.IntN(len(zones))]
		days := func() (day []Entry) {
			for _, n := range random.Perm(48)[:random.IntN(5)] {
				day = append(day, Entry{At: fmt.Sprintf("%02d:%02d", n/2, n%2*30), Value: json.RawMessage(fmt.Sprint(random.IntN(3)))})
			}
			return day
		}
		s.Week = Week{Monday: days(), Tuesday: days(), Wednesday: days(), Thursday: days(), Friday: days(), Saturday: days(), Sunday: days()}
		s.Exceptions = []Exception{{Dates: Dates{Weekday: "sunday", Week: 1 + random.IntN(5)}, Day: days()}}
		p, err := NewPlan(&s, nil)
		if err != nil {
			t.Fatal(err)
		}
		from := time.Unix(1767225600+random.Int64N(400*86400), 0)
		value, list := p.At(from).Value, p.Changes(from, 40)
		for i, c := range list {
			if c.Value == value || !c.Time.After(from) || i > 0 && !list[i-1].Time.Before(c.Time) {
				t.Fatalf("%s: change %d of %v is none", s.TimeZone, i, list)
			}
			if before, then := p.At(c.Time.Add(-time.Second)).Value, p.At(c.Time).Value; before != value || then != c.Value {
				t.Fatalf("%s: at %v it goes from %v to %v; the change says from %v to %v", s.TimeZone, c.Time, before, then, value, c.Value)
			}
			value = c.Value
		}
	}
}
