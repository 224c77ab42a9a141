package billing

import (
	"fmt"
	"slices"
	"time"

	"voltbus/meter/interval"
)

func (h Holiday) compile(p *problems, at string) holiday {
	given := 0
	for _, is := range []bool{h.Date != "", h.Easter != nil, h.Weekday != nil} {
		if is {
			given++
		}
	}
	if h.Name == "" {
		p.add("%s.name: missing", at)
	}
	var out holiday
	switch {
	case given != 1:
		p.add("%s: %d of date, easter and weekday: write exactly one", at, given)
	case h.Easter != nil:
		if *h.Easter < -100 || *h.Easter > 100 {
			p.add("%s.easter: %d: write days after Easter Sunday, -100 to 100", at, *h.Easter)
		}
		easter := *h.Easter
		out.easter = &easter
	case h.Weekday != nil:
		w := *h.Weekday
		day := slices.Index(dayNames(), w.Day)
		if day < 0 || day == holidayDay {
			p.add("%s.weekday.day: %q: write mon, tue, wed, thu, fri, sat or sun", at, w.Day)
		}
		if w.Nth != -1 && (w.Nth < 1 || w.Nth > 4) {
			p.add("%s.weekday.nth: %d: write 1 to 4, or -1 for the last", at, w.Nth)
		}
		if w.Month < 1 || w.Month > 12 {
			p.add("%s.weekday.month: %d: write 1 to 12", at, w.Month)
		}
		out.nth, out.weekday, out.month = w.Nth, time.Weekday(max(day, 0)), w.Month
	default:
		out = h.date(p, at)
	}
	return out
}

func (h Holiday) date(p *problems, at string) holiday {
	if date, err := time.Parse("2006-01-02", h.Date); err == nil {
		return holiday{year: date.Year(), month: int(date.Month()), day: date.Day()}
	}
	date, err := time.Parse("2006-01-02", "2024-"+h.Date)
	if err != nil {
		p.add("%s.date: %q: write such as 2024-12-24, or 12-25 for each year", at, h.Date)
	}
	return holiday{month: int(date.Month()), day: date.Day()}
}

// on reports whether a date is the holiday.
func (h holiday) on(year int, month time.Month, day int) bool {
	switch {
	case h.easter != nil:
		date := easter(year).AddDate(0, 0, *h.easter)
		return date.Month() == month && date.Day() == day
	case int(month) != h.month:
		return false
	case h.nth == 0:
		return day == h.day && (h.year == 0 || h.year == year)
	}
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	if date.Weekday() != h.weekday {
		return false
	}
	if h.nth < 0 {
		return date.AddDate(0, 0, 7).Month() != month
	}
	return (day-1)/7+1 == h.nth
}

// easter returns Easter Sunday of the Gregorian calendar (Meeus, Astronomical Algorithms, chapter 8).
func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	d, e := b/4, b%4
	f := (b + 8) / 25
	g := (b - f + 1) / 3
	h := (19*a + b - d - g + 15) % 30
	i, k := c/4, c%4
	l := (32 + 2*e + 2*i - h - k) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(year, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

// Zone returns the zone of the tariff.
func (c *Calendar) Zone() *time.Location { return c.zone }

// Holiday reports whether a local date is a holiday.
func (c *Calendar) Holiday(year int, month time.Month, day int) bool {
	return slices.ContainsFunc(c.holidays, func(h holiday) bool { return h.on(year, month, day) })
}

// schedule returns the changes of a local date.
func (c *Calendar) schedule(year int, month time.Month, day int) []change {
	today := int(month)*100 + day
	current := c.seasons[len(c.seasons)-1]
	for _, s := range c.seasons {
		if s.from <= today {
			current = s
		}
	}
	if c.Holiday(year, month, day) {
		return current.types[holidayDay]
	}
	return current.types[time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Weekday()]
}

// At returns the period of a moment, as an index of the tariff's periods.
func (c *Calendar) At(t time.Time) int {
	local := t.In(c.zone)
	year, month, day := local.Date()
	return at(c.schedule(year, month, day), local.Hour()*60+local.Minute())
}

func at(changes []change, minute int) int {
	period := changes[0].period
	for _, c := range changes[1:] {
		if c.minute > minute {
			break
		}
		period = c.period
	}
	return period
}

// columns appends the period of each interval of a day: that in which the interval begins.
func (c *Calendar) columns(dst []int, d interval.Day) []int {
	year, month, day := d.Date()
	changes := c.schedule(year, month, day)
	for i := range d.Count() {
		local := d.Start(i).In(c.zone)
		dst = append(dst, at(changes, local.Hour()*60+local.Minute()))
	}
	return dst
}

// fits returns an error if a switch lies inside an interval of an ordinary day.
func (c *Calendar) fits(length time.Duration) error {
	for _, s := range c.seasons {
		for _, changes := range s.types {
			for _, ch := range changes {
				if (time.Duration(ch.minute)*time.Minute)%length != 0 {
					return fmt.Errorf("switch at %02d:%02d: lies inside an interval of %s: write a time at which an interval begins", ch.minute/60, ch.minute%60, length)
				}
			}
		}
	}
	return nil
}
