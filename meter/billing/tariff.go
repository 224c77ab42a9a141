// Package billing computes billing determinants from interval and register readings: consumption by time of use,
// peak demand, net metering, and registers frozen at the bill date. It computes quantities, never money. It is
// pure, and every figure can be computed again as it was known at a past moment.
//
// Wall clocks rule the tariff: where clocks go back, both runs of the repeated hour count to the period that the
// clock shows; where clocks go forward, the hour that does not exist counts to none. Days are those of
// package interval.
package billing

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Tariff says which period of use applies when. It is a document: its fields are text as a person writes it.
type Tariff struct {
	Zone     string    `json:"zone" yaml:"zone"`       // IANA name, such as "Europe/Berlin"
	Periods  []string  `json:"periods" yaml:"periods"` // names, in the order of the results, such as "peak", "off-peak"
	Seasons  []Season  `json:"seasons" yaml:"seasons"` // in the order of their first days
	Holidays []Holiday `json:"holidays,omitempty" yaml:"holidays,omitempty"`
}

// Season lasts from its first day until the next season begins; the last season of the year continues into the
// next year.
type Season struct {
	Name  string    `json:"name" yaml:"name"`
	From  string    `json:"from" yaml:"from"` // month and day, such as "10-01"
	Types []DayType `json:"dayTypes" yaml:"dayTypes"`
}

// DayType is days with one schedule. Each weekday belongs to exactly one type of a season; so do the holidays, if
// the tariff has any.
type DayType struct {
	Name     string   `json:"name" yaml:"name"`
	Days     []string `json:"days" yaml:"days"` // "mon" to "sun" and "holiday"
	Schedule []Switch `json:"schedule" yaml:"schedule"`
}

// Switch starts a period at a time of the wall clock; it lasts until the next switch or the end of the day.
type Switch struct {
	From   string `json:"from" yaml:"from"` // such as "06:00"; "00:00" for the first
	Period string `json:"period" yaml:"period"`
}

// Holiday is a date, or a day of each year. Exactly one of Date, Easter and Weekday is given.
type Holiday struct {
	Name    string   `json:"name" yaml:"name"`
	Date    string   `json:"date,omitempty" yaml:"date,omitempty"`       // "2024-12-24", or "12-25" for each year
	Easter  *int     `json:"easter,omitempty" yaml:"easter,omitempty"`   // days after Easter Sunday (Gregorian), −100 to 100
	Weekday *Weekday `json:"weekday,omitempty" yaml:"weekday,omitempty"` // such as the fourth Thursday of November
}

// Weekday is the nth of a weekday in a month.
type Weekday struct {
	Nth   int    `json:"nth" yaml:"nth"` // 1 to 4, or −1 for the last
	Day   string `json:"day" yaml:"day"` // "mon" to "sun"
	Month int    `json:"month" yaml:"month"`
}

// Validate returns everything that is wrong with the tariff, joined.
func (t Tariff) Validate() error {
	_, err := Compile(t)
	return err
}

const holidayDay = 7 // index behind the weekdays Sunday = 0 to Saturday = 6

func dayNames() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat", "holiday"} }

// problems collects what is wrong with a document.
type problems []error

func (p *problems) add(format string, args ...any) { *p = append(*p, fmt.Errorf(format, args...)) }

// Calendar is a tariff that is checked and ready for use. It is immutable.
type Calendar struct {
	zone     *time.Location
	periods  []string
	seasons  []season
	holidays []holiday
}

type season struct {
	from  int // month*100 + day
	types [8][]change
}

// change starts a period at a minute of the wall clock.
type change struct{ minute, period int }

type holiday struct {
	year, month, day int // year 0: each year
	easter           *int
	nth              int
	weekday          time.Weekday
}

// Compile checks a tariff. The error joins everything that is wrong.
func Compile(t Tariff) (*Calendar, error) {
	var p problems
	c := &Calendar{periods: slices.Clone(t.Periods)}
	zone, err := time.LoadLocation(t.Zone)
	if err != nil || t.Zone == "" || t.Zone == "Local" {
		p.add("zone: %q: write an IANA name, such as Europe/Berlin", t.Zone)
	}
	c.zone = zone
	if len(t.Periods) == 0 {
		p.add("periods: none: write at least one name, such as peak")
	}
	for i, name := range t.Periods {
		if name == "" || slices.Contains(t.Periods[:i], name) {
			p.add("periods[%d]: %q: write a name that no other period has", i, name)
		}
	}
	for i, h := range t.Holidays {
		c.holidays = append(c.holidays, h.compile(&p, fmt.Sprintf("holidays[%d]", i)))
	}
	if len(t.Seasons) == 0 {
		p.add("seasons: none: write at least one, from 01-01")
	}
	for i, s := range t.Seasons {
		at := fmt.Sprintf("seasons[%d]", i)
		compiled := s.compile(&p, at, t)
		if i > 0 && compiled.from > 0 && compiled.from <= c.seasons[i-1].from {
			p.add("%s.from: %q: not after the season before: order seasons by their first days", at, s.From)
		}
		c.seasons = append(c.seasons, compiled)
	}
	if err := errors.Join(p...); err != nil {
		return nil, err
	}
	return c, nil
}

func (s Season) compile(p *problems, at string, t Tariff) season {
	out := season{}
	if date, err := time.Parse("2006-01-02", "2023-"+s.From); err != nil {
		p.add("%s.from: %q: write month and day, such as 10-01; not 02-29", at, s.From)
	} else {
		out.from = int(date.Month())*100 + date.Day()
	}
	if s.Name == "" {
		p.add("%s.name: missing", at)
	}
	taken := [8]bool{}
	for i, d := range s.Types {
		where := fmt.Sprintf("%s.dayTypes[%d]", at, i)
		changes := d.compile(p, where, t.Periods)
		for _, name := range d.Days {
			n := slices.Index(dayNames(), name)
			switch {
			case n < 0:
				p.add("%s.days: %q: write mon, tue, wed, thu, fri, sat, sun or holiday", where, name)
			case taken[n]:
				p.add("%s.days: %s is given twice in this season: leave one out", where, name)
			default:
				taken[n], out.types[n] = true, changes
			}
		}
	}
	for n, name := range dayNames() {
		if !taken[n] && (n != holidayDay || len(t.Holidays) > 0) {
			p.add("%s: no day type has %s: add it to the days of one", at, name)
		}
	}
	return out
}

func (d DayType) compile(p *problems, at string, periods []string) []change {
	if d.Name == "" {
		p.add("%s.name: missing", at)
	}
	if len(d.Days) == 0 {
		p.add("%s.days: none: write such as mon, or leave the day type out", at)
	}
	if len(d.Schedule) == 0 {
		p.add("%s.schedule: none: write at least one switch from 00:00", at)
	}
	var out []change
	for i, s := range d.Schedule {
		where := fmt.Sprintf("%s.schedule[%d]", at, i)
		c := change{minute: -1, period: slices.Index(periods, s.Period)}
		if clock, err := time.Parse("15:04", s.From); err == nil && len(s.From) == 5 {
			c.minute = clock.Hour()*60 + clock.Minute()
		}
		switch {
		case c.minute < 0:
			p.add("%s.from: %q: write a time from 00:00 to 23:59", where, s.From)
		case i == 0 && c.minute != 0:
			p.add("%s.from: %q: the first switch is at 00:00", where, s.From)
		case i > 0 && c.minute <= out[i-1].minute:
			p.add("%s.from: %q: not after the switch before: order switches by time", where, s.From)
		}
		if c.period < 0 {
			p.add("%s.period: %q: not one of the tariff's periods: add it there or write one of them", where, s.Period)
		}
		out = append(out, c)
	}
	return out
}
