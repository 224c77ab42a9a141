package schedule

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // time zones for machines without any

	"voltbus/fault"
	"voltbus/point"
)

// Schedule says what points are set to, and when.
type Schedule struct {
	_ struct{} `api:"schema=Schedule" doc:"What points are set to, and when"`

	Name        string          `json:"name" api:"required,max=64" doc:"Small letters, digits, dots, hyphens and underscores"`
	Description string          `json:"description,omitempty" api:"max=1024"`
	TimeZone    string          `json:"time_zone,omitempty" api:"max=64" doc:"Such as Europe/Berlin; UTC if left out"`
	Points      []string        `json:"points" api:"required,max=1000" doc:"Paths of points that are set"`
	Level       int             `json:"level,omitempty" api:"min=0,max=16" doc:"Of the commands, from 9 to 16, so that people at level 8 win; 15 if left out"`
	Default     json.RawMessage `json:"default,omitempty" doc:"What a day begins with: a number, true, false or a text; nothing is commanded if left out or null"`
	Week        Week            `json:"week"`
	Exceptions  []Exception     `json:"exceptions,omitempty" api:"max=1000" doc:"The first one that has a date decides the whole day"`
	From        string          `json:"from,omitempty" api:"max=10" doc:"The first day on which it applies, such as 2026-10-01; no bound if left out"`
	To          string          `json:"to,omitempty" api:"max=10" doc:"The last day on which it applies; no bound if left out"`
}

// Week is the days of a week.
type Week struct {
	_ struct{} `api:"schema=ScheduleWeek"`

	Monday    []Entry `json:"monday,omitempty" api:"max=96"`
	Tuesday   []Entry `json:"tuesday,omitempty" api:"max=96"`
	Wednesday []Entry `json:"wednesday,omitempty" api:"max=96"`
	Thursday  []Entry `json:"thursday,omitempty" api:"max=96"`
	Friday    []Entry `json:"friday,omitempty" api:"max=96"`
	Saturday  []Entry `json:"saturday,omitempty" api:"max=96"`
	Sunday    []Entry `json:"sunday,omitempty" api:"max=96"`
}

// on returns a day of the week.
func (w *Week) on(d time.Weekday) []Entry {
	return [][]Entry{w.Sunday, w.Monday, w.Tuesday, w.Wednesday, w.Thursday, w.Friday, w.Saturday}[d]
}

// Entry is a value from a time of the day on.
type Entry struct {
	_ struct{} `api:"schema=ScheduleEntry"`

	At    string          `json:"at" api:"required,max=8" doc:"A time of the day, such as 07:30"`
	Value json.RawMessage `json:"value" doc:"A number, true, false or a text; null ends the command"`
}

// Exception is a day, or days, unlike those of the week.
type Exception struct {
	_ struct{} `api:"schema=ScheduleException"`

	Dates

	Calendar string  `json:"calendar,omitempty" api:"max=64" doc:"The name of a calendar, in place of dates here"`
	Name     string  `json:"name,omitempty" api:"max=128" doc:"Such as Holidays"`
	Day      []Entry `json:"day,omitempty" api:"max=96" doc:"What is set on these days; without any the default holds all day"`
}

// Calendar is a list of dates that schedules share, such as public holidays.
type Calendar struct {
	_ struct{} `api:"schema=Calendar" doc:"Dates that schedules share, such as public holidays"`

	Name        string          `json:"name" api:"required,max=64" doc:"Small letters, digits, dots, hyphens and underscores"`
	Description string          `json:"description,omitempty" api:"max=1024"`
	Dates       []CalendarEntry `json:"dates" api:"max=1000"`
}

// CalendarEntry is a date of a calendar, or dates.
type CalendarEntry struct {
	Dates

	Name string `json:"name,omitempty" api:"max=128" doc:"Such as New Year's Day"`
}

// Bounds of a schedule.
const (
	MostPoints    = 1000
	mostEntries   = 96
	mostDates     = 1000
	mostText      = 1024
	DefaultLevel  = 15
	mostUrgent    = 9
	leastUrgent   = 16
	mostValueText = 1024
)

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

func wrong(field, format string, args ...any) error {
	return fault.E("schedule", fault.Invalid, field, fmt.Errorf(format, args...))
}

// Parse reads a schedule or a calendar, in which nothing unknown may stand.
func Parse(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fault.E("schedule.Parse", fault.Invalid, "", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fault.E("schedule.Parse", fault.Invalid, "", errors.New("there is more behind it; write one JSON object"))
	}
	return nil
}

// Zone returns the time zone of the schedule.
func (s *Schedule) Zone() (*time.Location, error) {
	zone := s.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	if zone == "Local" {
		return nil, wrong("time_zone", "Local depends on the machine; write the name of a zone, such as Europe/Berlin or America/New_York")
	}
	at, err := time.LoadLocation(zone)
	if err != nil {
		return nil, wrong("time_zone", "%.80q is not a time zone; write one such as Europe/Berlin or America/New_York", zone)
	}
	return at, nil
}

// Validate returns what is wrong with a schedule.
func (s *Schedule) Validate() error {
	if !name.MatchString(s.Name) {
		return wrong("name", "%.80q is not the name of a schedule; write 1 to 64 small letters, digits, dots, hyphens and underscores, such as office-hours", s.Name)
	}
	if len(s.Description) > mostText {
		return wrong("description", "is longer than %d bytes", mostText)
	}
	if s.Level != 0 && (s.Level < mostUrgent || s.Level > leastUrgent) {
		return wrong("level", "%d is not a level of a schedule; write %d to %d, so that people at level 8 win, or leave it out for %d", s.Level, mostUrgent, leastUrgent, DefaultLevel)
	}
	if _, err := s.Zone(); err != nil {
		return err
	}
	for _, check := range []func() error{s.checkPoints, s.checkDays, s.checkPeriod} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Schedule) checkPoints() error {
	if len(s.Points) == 0 || len(s.Points) > MostPoints {
		return wrong("points", "write 1 to %d paths of points, such as b1/ahu1/occupied", MostPoints)
	}
	sorted := slices.Sorted(slices.Values(s.Points))
	for i, p := range sorted {
		if err := point.Path(p).Validate(); err != nil {
			return fault.E("schedule", fault.Invalid, "points", err)
		}
		if i > 0 && sorted[i-1] == p {
			return wrong("points", "%s stands there twice; leave one out", p)
		}
	}
	return nil
}

func (s *Schedule) checkDays() error {
	if _, err := valueOf(s.Default); err != nil {
		return wrong("default", "%w", err)
	}
	for d := time.Sunday; d <= time.Saturday; d++ {
		if err := checkDay("week."+strings.ToLower(d.String()), s.Week.on(d)); err != nil {
			return err
		}
	}
	if len(s.Exceptions) > mostDates {
		return wrong("exceptions", "are more than %d; put dates into a calendar", mostDates)
	}
	for i := range s.Exceptions {
		x, field := &s.Exceptions[i], fmt.Sprintf("exceptions[%d]", i)
		if err := checkDay(field+".day", x.Day); err != nil {
			return err
		}
		var err error
		switch {
		case len(x.Name) > 128:
			err = wrong(field+".name", "is longer than 128 bytes")
		case x.Calendar == "":
			err = x.Dates.check(field)
		case x.Dates != Dates{}:
			err = wrong(field, "has a calendar and dates; write two exceptions")
		case !name.MatchString(x.Calendar):
			err = wrong(field+".calendar", "%.80q is not the name of a calendar", x.Calendar)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Schedule) checkPeriod() error {
	from, err := dateOrNone("from", s.From)
	if err != nil {
		return err
	}
	to, err := dateOrNone("to", s.To)
	if err == nil && s.From != "" && s.To != "" && to.before(from) {
		err = wrong("to", "%s is before %s; write a day that is not before from", s.To, s.From)
	}
	return err
}

func checkDay(field string, day []Entry) error {
	if len(day) > mostEntries {
		return wrong(field, "has more than %d times", mostEntries)
	}
	seen := map[timeOfDay]bool{}
	for i := range day {
		at, err := parseTime(day[i].At)
		if err != nil {
			return wrong(fmt.Sprintf("%s[%d].at", field, i), "%w", err)
		}
		if seen[at] {
			return wrong(fmt.Sprintf("%s[%d].at", field, i), "%s stands there twice; leave one out", day[i].At)
		}
		seen[at] = true
		if _, err := valueOf(day[i].Value); err != nil {
			return wrong(fmt.Sprintf("%s[%d].value", field, i), "%w", err)
		}
	}
	return nil
}

// Validate returns what is wrong with a calendar.
func (c *Calendar) Validate() error {
	switch {
	case !name.MatchString(c.Name):
		return wrong("name", "%.80q is not the name of a calendar; write 1 to 64 small letters, digits, dots, hyphens and underscores, such as holidays", c.Name)
	case len(c.Description) > mostText:
		return wrong("description", "is longer than %d bytes", mostText)
	case len(c.Dates) > mostDates:
		return wrong("dates", "are more than %d; make another calendar", mostDates)
	}
	for i := range c.Dates {
		field := fmt.Sprintf("dates[%d]", i)
		if len(c.Dates[i].Name) > 128 {
			return wrong(field+".name", "is longer than 128 bytes")
		}
		if err := c.Dates[i].Dates.check(field); err != nil {
			return err
		}
	}
	return nil
}

var errValue = errors.New("must be a number, true, false, a text or null")

// valueOf reads a value; point.None for none.
func valueOf(text json.RawMessage) (point.Value, error) {
	if len(text) == 0 || string(text) == "null" {
		return point.Value{}, nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return point.Value{}, errValue
	}
	switch v := v.(type) {
	case bool:
		return point.BoolOf(v), nil
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return point.IntOf(n), nil
		}
		n, err := v.Float64()
		if err != nil {
			return point.Value{}, fmt.Errorf("%.40q is not a number that can be kept", v)
		}
		return point.FloatOf(n), nil
	case string:
		if len(v) > mostValueText {
			return point.Value{}, fmt.Errorf("is longer than %d bytes", mostValueText)
		}
		return point.TextOf(v), nil
	}
	return point.Value{}, errValue
}
