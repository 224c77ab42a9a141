package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Dates selects dates, in one of six ways.
type Dates struct {
	Date   string `json:"date,omitempty" api:"max=10" doc:"One date, such as 2026-12-24"`
	First  string `json:"first,omitempty" api:"max=10" doc:"The first of a row of dates, with last"`
	Last   string `json:"last,omitempty" api:"max=10" doc:"The last of a row of dates"`
	Yearly string `json:"yearly,omitempty" api:"max=5" doc:"A day of each year, such as 12-25; 02-29 is only in leap years"`
	Month  int    `json:"month,omitempty" api:"min=0,max=12" doc:"With weekday and week: a weekday of a month, such as the fourth Thursday in November"`
	// Weekday alone is that day of each week.
	Weekday string `json:"weekday,omitempty" api:"one-of=monday|tuesday|wednesday|thursday|friday|saturday|sunday" doc:"Alone: each week"`
	Week    int    `json:"week,omitempty" api:"min=-1,max=5" doc:"With weekday: 1 for the first one in the month to 5, -1 for the last"`
	Easter  *int   `json:"easter,omitempty" api:"min=-100,max=300" doc:"Days after Easter Sunday of the Gregorian calendar: -2 for Good Friday, 1 for Easter Monday"`
}

// date is a day of the calendar.
type date struct {
	year  int
	month time.Month
	day   int
}

func dateOf(t time.Time) date {
	y, m, d := t.Date()
	return date{y, m, d}
}

// noon is in the middle of the day, where no time zone matters.
func (d date) noon() time.Time { return time.Date(d.year, d.month, d.day, 12, 0, 0, 0, time.UTC) }

func (d date) add(days int) date { return dateOf(d.noon().AddDate(0, 0, days)) }

func (d date) before(o date) bool { return d.noon().Before(o.noon()) }

func (d date) weekday() time.Weekday { return d.noon().Weekday() }

var errDate = errors.New("is not a date; write one such as 2026-12-24")

func parseDate(text string) (date, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return date{}, fmt.Errorf("%.20q %w", text, errDate)
	}
	return dateOf(t), nil
}

// dateOrNone reads a date that may be left out.
func dateOrNone(field, text string) (date, error) {
	if text == "" {
		return date{}, nil
	}
	d, err := parseDate(text)
	if err != nil {
		return d, wrong(field, "%w", err)
	}
	return d, nil
}

// weekdayOf reads a day of the week.
func weekdayOf(text string) (time.Weekday, bool) {
	for d := time.Sunday; d <= time.Saturday; d++ {
		if strings.ToLower(d.String()) == text {
			return d, true
		}
	}
	return 0, false
}

// parseYearly reads a day of each year.
func parseYearly(text string) (month time.Month, day int, err error) {
	t, err := time.Parse(time.DateOnly, "2024-"+text) // a leap year
	if err != nil {
		return 0, 0, fmt.Errorf("%.20q is not a day of the year; write month and day, such as 12-25", text)
	}
	return t.Month(), t.Day(), nil
}

// forms counts the ways in which dates are selected.
func (d *Dates) forms() (n int) {
	for _, used := range []bool{d.Date != "", d.First != "" || d.Last != "", d.Yearly != "", d.Weekday != "" || d.Month != 0 || d.Week != 0, d.Easter != nil} {
		if used {
			n++
		}
	}
	return n
}

func (d *Dates) check(field string) error {
	if d.forms() != 1 {
		return wrong(field, "has %d kinds of dates; write one of date, first and last, yearly, weekday (with month and week), easter", d.forms())
	}
	var err error
	switch {
	case d.Date != "":
		_, err = parseDate(d.Date)
	case d.First != "" || d.Last != "":
		var first, last date
		if first, err = parseDate(d.First); err == nil {
			last, err = parseDate(d.Last)
		}
		if err == nil && last.before(first) {
			err = fmt.Errorf("%s is before %s", d.Last, d.First)
		}
	case d.Yearly != "":
		_, _, err = parseYearly(d.Yearly)
	case d.Easter != nil:
		if *d.Easter < -100 || *d.Easter > 300 {
			err = fmt.Errorf("%d days after Easter may be in another year; write -100 to 300", *d.Easter)
		}
	default:
		err = d.checkWeekday()
	}
	if err != nil {
		return wrong(field, "%w", err)
	}
	return nil
}

func (d *Dates) checkWeekday() error {
	_, known := weekdayOf(d.Weekday)
	switch {
	case !known:
		return fmt.Errorf("%.20q is not a weekday; write monday to sunday", d.Weekday)
	case d.Month < 0 || d.Month > 12:
		return fmt.Errorf("%d is not a month; write 1 to 12", d.Month)
	case d.Week < -1 || d.Week > 5:
		return fmt.Errorf("%d is not a week; write 1 to 5, or -1 for the last", d.Week)
	case d.Month != 0 && d.Week == 0:
		return errors.New("has a month without a week; write which one of the month it is: 1 to 5, or -1 for the last")
	}
	return nil
}

// has reports whether a date is selected. The dates are right.
func (d *Dates) has(on date) bool {
	switch {
	case d.Date != "":
		return on.noon().Format(time.DateOnly) == d.Date
	case d.First != "":
		text := on.noon().Format(time.DateOnly) // dates of four digits are in the order of their texts
		return d.First <= text && text <= d.Last
	case d.Yearly != "":
		return on.noon().Format("01-02") == d.Yearly
	case d.Easter != nil:
		return easter(on.year).add(*d.Easter) == on
	}
	day, _ := weekdayOf(d.Weekday)
	switch {
	case on.weekday() != day, d.Month != 0 && on.month != time.Month(d.Month):
		return false
	case d.Week < 0:
		return on.add(7).month != on.month
	}
	return d.Week == 0 || (on.day-1)/7+1 == d.Week
}

// NamedDate is a date of a calendar.
type NamedDate struct{ Date, Name string }

// Next returns at most so many dates of a calendar that is right, from the day of an instant in UTC on, within 400 days.
func (c *Calendar) Next(from time.Time, most int) (list []NamedDate) {
	first := dateOf(from.UTC())
	for n := range horizon {
		on := first.add(n)
		i := slices.IndexFunc(c.Dates, func(e CalendarEntry) bool { return e.has(on) })
		if i < 0 {
			continue
		}
		if list = append(list, NamedDate{on.noon().Format(time.DateOnly), c.Dates[i].Name}); len(list) == most {
			break
		}
	}
	return list
}

// easter returns Easter Sunday of a year in the Gregorian calendar, by the method of Meeus, Jones and Butcher (J. Meeus, Astronomical
// Algorithms, chapter 8).
func easter(year int) date {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return date{year, time.Month(n / 31), n%31 + 1}
}
