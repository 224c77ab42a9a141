package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/point"
)

// Change is a value from an instant on.
type Change struct {
	Time  time.Time
	Value point.Value // point.None: nothing is commanded
	Why   string      // the day that it is of, such as Monday, or the name of an exception
}

// Plan is a schedule that is right, ready to be asked. It is immutable.
type Plan struct {
	zone       *time.Location
	base       point.Value
	week       [7][]timed
	exceptions []exception
	from, to   date // zero for none
}

type exception struct {
	name  string
	dates []Dates
	day   []timed
}

// timed is a value of a day.
type timed struct {
	at    timeOfDay
	value point.Value
}

// timeOfDay is in seconds since midnight of the clock.
type timeOfDay int

var errTime = errors.New("is not a time of the day; write one from 00:00 to 23:59, such as 07:30")

func parseTime(text string) (timeOfDay, error) {
	layout := "15:04"
	if len(text) == len("15:04:05") {
		layout = "15:04:05"
	}
	t, err := time.Parse(layout, text)
	if err != nil || len(text) != len(layout) {
		return 0, fmt.Errorf("%.20q %w", text, errTime)
	}
	return timeOfDay(t.Hour()*3600 + t.Minute()*60 + t.Second()), nil
}

// NewPlan reads a schedule. calendars returns a calendar; an exception of one that is not there is an error.
func NewPlan(s *Schedule, calendars func(name string) (Calendar, bool)) (*Plan, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	p := &Plan{}
	p.zone, _ = s.Zone()
	p.base, _ = valueOf(s.Default)
	p.from, _ = dateOrNone("from", s.From)
	p.to, _ = dateOrNone("to", s.To)
	for d := time.Sunday; d <= time.Saturday; d++ {
		p.week[d] = day(s.Week.on(d))
	}
	for i := range s.Exceptions {
		x := &s.Exceptions[i]
		e := exception{name: cmp.Or(x.Name, x.Calendar, "Exception"), dates: []Dates{x.Dates}, day: day(x.Day)}
		if x.Calendar != "" {
			c, has := calendars(x.Calendar)
			if !has {
				return nil, wrong(fmt.Sprintf("exceptions[%d].calendar", i), "there is no calendar %s; make it first", x.Calendar)
			}
			e.dates = nil
			for k := range c.Dates {
				e.dates = append(e.dates, c.Dates[k].Dates)
			}
		}
		p.exceptions = append(p.exceptions, e)
	}
	return p, nil
}

// day reads a day that is right.
func day(entries []Entry) []timed {
	out := make([]timed, len(entries))
	for i := range entries {
		out[i].at, _ = parseTime(entries[i].At)
		out[i].value, _ = valueOf(entries[i].Value)
	}
	slices.SortFunc(out, func(a, b timed) int { return cmp.Compare(a.at, b.at) })
	return out
}

// on lists the changes of a date in their order; the first one is that with which the day begins.
func (p *Plan) on(d date) []Change {
	start := clock(d, 0, p.zone)
	if p.from != (date{}) && d.before(p.from) || p.to != (date{}) && p.to.before(d) {
		return []Change{{Time: start, Why: "not in effect"}}
	}
	why, entries := d.weekday().String(), p.week[d.weekday()]
	for i := range p.exceptions {
		if x := &p.exceptions[i]; slices.ContainsFunc(x.dates, func(of Dates) bool { return of.has(d) }) {
			why, entries = x.name, x.day
			break
		}
	}
	out := append(make([]Change, 0, 1+len(entries)), Change{Time: start, Value: p.base, Why: why})
	for _, e := range entries {
		if at := clock(d, e.at, p.zone); dateOf(at) == d { // it is not where a zone skips the end of a day
			out = append(out, Change{Time: at, Value: e.value, Why: why})
		}
	}
	return out
}

// At returns what holds at an instant. Its time is when it was set; it may be that the value before was the same.
func (p *Plan) At(t time.Time) Change {
	var now Change
	for _, c := range p.on(dateOf(t.In(p.zone))) {
		if !c.Time.After(t) {
			now = c
		}
	}
	return now
}

// horizon is how far ahead changes are looked for: a leap day may be eight years away, which nobody waits for.
const horizon = 400

// Next returns the next change to another value after an instant; false if there is none within 400 days.
func (p *Plan) Next(t time.Time) (Change, bool) {
	list := p.Changes(t, 1)
	if len(list) == 0 {
		return Change{}, false
	}
	return list[0], true
}

// Changes returns at most so many changes to other values after an instant, of the next 400 days.
func (p *Plan) Changes(t time.Time, most int) (list []Change) {
	value := p.At(t).Value
	first := dateOf(t.In(p.zone))
	for n := range horizon {
		day := p.on(first.add(n))
		if n > 0 && dateOf(day[0].Time) != first.add(n) { // a day that the zone skips
			continue
		}
		for i, c := range day {
			replaced := i+1 < len(day) && !day[i+1].Time.After(c.Time)
			if !c.Time.After(t) || replaced || c.Value == value {
				continue
			}
			value = c.Value
			if list = append(list, c); len(list) == most {
				return list
			}
		}
	}
	return list
}

// clock returns when the clock of a zone shows a time of a date: for the first time if it comes twice, and when the clock skips it if it
// does not come.
func clock(d date, at timeOfDay, zone *time.Location) time.Time {
	wanted := time.Date(d.year, d.month, d.day, 0, 0, int(at), 0, time.UTC)
	t := time.Date(d.year, d.month, d.day, 0, 0, int(at), 0, zone)
	start, end := t.ZoneBounds()
	switch shown := shown(t); {
	case shown.After(wanted): // skipped: t is behind the change
		return start
	case shown.Before(wanted): // skipped: t is before the change
		return end
	case start.IsZero():
		return t
	}
	_, offset := start.Add(-time.Nanosecond).Zone()
	if early := wanted.Add(-time.Duration(offset) * time.Second); early.Before(start) {
		return early.In(zone)
	}
	return t
}

// shown returns what a clock shows, as if it were UTC.
func shown(t time.Time) time.Time {
	y, m, d := t.Date()
	return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}
