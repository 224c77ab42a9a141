package interval

import "time"

// Day is one local day of a grid. It is immutable.
type Day struct {
	grid       Grid
	start, end time.Time
	year       int
	month      time.Month
	day        int
}

// Date returns the local date.
func (d Day) Date() (year int, month time.Month, day int) { return d.year, d.month, d.day }

// Bounds returns the first moment of the day and that of the next day. They are equal for a date that a zone
// left out, such as 30 December 2011 in Pacific/Apia.
func (d Day) Bounds() (start, end time.Time) { return d.start, d.end }

// Length returns how long the day is: 24 h, or 23 h or 25 h where clocks change by one hour.
func (d Day) Length() time.Duration { return d.end.Sub(d.start) }

// Next returns the day after.
func (d Day) Next() Day { return d.grid.Day(d.year, d.month, d.day+1) }

// Count returns how many intervals the day has.
func (d Day) Count() int {
	if d.grid.length > time.Hour {
		if d.Length() == 0 {
			return 0
		}
		return int(Longest / d.grid.length)
	}
	return int((d.Length() + d.grid.length - 1) / d.grid.length)
}

// Start returns when the interval i begins, counted from 0.
func (d Day) Start(i int) time.Time {
	if i <= 0 {
		return d.start
	}
	return d.End(i - 1)
}

// End returns when the interval i ends, counted from 0. The last one ends with the day; so does any i behind it.
func (d Day) End(i int) time.Time {
	if i >= d.Count()-1 {
		return d.end
	}
	if d.grid.length <= time.Hour {
		return d.start.Add(time.Duration(i+1) * d.grid.length)
	}
	minutes := int(time.Duration(i+1) * d.grid.length / time.Minute)
	return time.Date(d.year, d.month, d.day, 0, minutes, 0, 0, d.grid.zone)
}

// Index returns which interval of the day ends at a moment, counted from 0, and whether one does.
func (d Day) Index(end time.Time) (int, bool) {
	if !end.After(d.start) || end.After(d.end) {
		return 0, false
	}
	n := d.Count()
	if d.grid.length > time.Hour {
		for i := range n {
			if d.End(i).Equal(end) {
				return i, true
			}
		}
		return 0, false
	}
	if end.Equal(d.end) {
		return n - 1, true
	}
	since := end.Sub(d.start)
	if since%d.grid.length != 0 {
		return 0, false
	}
	return int(since/d.grid.length) - 1, true
}

// dayStart returns the first moment of a local date. Clocks may change at midnight: then 00:00 does not exist
// and the day begins at 01:00, or 00:00 exists twice and the day begins with the first.
func dayStart(year int, month time.Month, day int, zone *time.Location) time.Time {
	noon := time.Date(year, month, day, 12, 0, 0, 0, zone)
	utc := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	_, offset := noon.Zone()
	midnight := utc.Add(-time.Duration(offset) * time.Second)
	change, _ := noon.ZoneBounds()
	if change.IsZero() || midnight.After(change) {
		return midnight.In(zone)
	}
	_, before := change.Add(-1).Zone()
	early := utc.Add(-time.Duration(before) * time.Second)
	switch {
	case early.Before(change):
		return early.In(zone)
	case midnight.Before(change):
		return change.In(zone)
	}
	return midnight.In(zone)
}
