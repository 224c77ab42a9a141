package greenbutton

import (
	"fmt"
	"time"
)

// localTime is what LocalTimeParameters say of a time zone, in seconds.
type localTime struct {
	end, start string // DstRuleType
	dst        int    // by how much daylight saving time is ahead
	offset     int    // of standard time from UTC
}

// noRule is the DstRuleType of a zone without daylight saving time, or with one that no rule describes.
const noRule = "FFFFFFFF"

// localTimeOf describes a zone as it is in the year of a moment.
func localTimeOf(zone *time.Location, at time.Time) localTime {
	year := at.In(zone).Year()
	up, down, ok := changes(zone, year)
	if !ok {
		_, offset := at.In(zone).Zone()
		return localTime{noRule, noRule, 0, offset}
	}
	_, before := up.Add(-time.Second).Zone()
	_, after := up.Zone()
	return localTime{rule(zone, down, false), rule(zone, up, true), after - before, before}
}

// changes returns the moments of a year at which the clock goes forward and back; false if there is not one of each.
func changes(zone *time.Location, year int) (up, down time.Time, ok bool) {
	ups, downs := 0, 0
	for t := time.Date(year, 1, 1, 0, 0, 0, 0, zone); ; {
		_, end := t.ZoneBounds()
		if t = end.In(zone); end.IsZero() || t.Year() != year {
			return up, down, ups == 1 && downs == 1
		}
		_, before := t.Add(-time.Second).Zone()
		switch _, after := t.Zone(); { // the bounds of the distant future are also those of years, at which nothing changes
		case after > before:
			up, ups = t, ups+1
		case after < before:
			down, downs = t, downs+1
		}
	}
}

// The operators of DstRuleType.
const (
	onDay   = 0 // the day of the month
	onAfter = 1 // the day of the week on or after the day of the month
	first   = 2 // the first day of the week of the month; 3 to 6 are the second to the fifth
	last    = 7
)

// pattern tells the day of a change in each year: the day of the week of one change, by an operator.
type pattern struct{ operator, monthday int }

// ruleYears is for how many years a rule has to hold: each day of the month falls on each day of the week in them.
const ruleYears = 12

// rule encodes when the clock is changed: by the first pattern that the next years follow, too.
func rule(zone *time.Location, at time.Time, forward bool) string {
	wall := wallBefore(at)
	patterns := []pattern{{last, 0}, {first + (wall.Day()-1)/7, 0}}
	for d := max(1, wall.Day()-6); d <= wall.Day(); d++ {
		patterns = append(patterns, pattern{onAfter, d})
	}
	for _, p := range patterns {
		if p.holds(zone, wall, forward) {
			return encode(wall, p)
		}
	}
	return encode(wall, pattern{onDay, wall.Day()})
}

// wallBefore returns what the clock shows when it is changed, as a time of UTC.
func wallBefore(at time.Time) time.Time {
	_, offset := at.Add(-time.Second).Zone()
	return at.UTC().Add(time.Duration(offset) * time.Second)
}

// holds reports whether the next years follow the pattern of one change.
func (p pattern) holds(zone *time.Location, is time.Time, forward bool) bool {
	for year := is.Year(); year < is.Year()+ruleYears; year++ {
		up, down, ok := changes(zone, year)
		if !ok {
			return false
		}
		if !forward {
			up = down
		}
		hour, minute, second := is.Clock()
		if wallBefore(up) != time.Date(year, is.Month(), p.day(is, year), hour, minute, second, 0, time.UTC) {
			return false
		}
	}
	return true
}

// day returns the day of the month in a year.
func (p pattern) day(is time.Time, year int) int {
	from := max(1, p.monthday)
	begin := time.Date(year, is.Month(), from, 0, 0, 0, 0, time.UTC)
	d := from + (int(is.Weekday())-int(begin.Weekday())+7)%7
	switch p.operator {
	case last:
		for time.Date(year, is.Month(), d+7, 0, 0, 0, 0, time.UTC).Month() == is.Month() {
			d += 7
		}
	case onAfter:
	default:
		d += 7 * (p.operator - first)
	}
	return d
}

// encode writes a DstRuleType: month, operator, day of the month, day of the week (Monday is 1), hour, seconds.
func encode(wall time.Time, p pattern) string {
	weekday := (int(wall.Weekday())+6)%7 + 1
	if p.operator == onDay {
		weekday = 0
	}
	seconds := wall.Minute()*60 + wall.Second()
	return fmt.Sprintf("%08X", int(wall.Month())<<28|p.operator<<25|p.monthday<<20|weekday<<17|wall.Hour()<<12|seconds)
}
