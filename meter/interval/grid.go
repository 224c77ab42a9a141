// Package interval divides time into the intervals of a meter's load profile. An interval is named by its
// *end*, as IEC 61968-9 and DLMS profiles do: with 15-minute intervals, 00:15 is the first of a day and the
// next midnight the last. Days are those of a time zone, so that a day has 23, 24 or 25 hours where clocks
// change.
package interval

import (
	"fmt"
	"time"
	_ "time/tzdata" // zones must not depend on the machine
)

// The bounds of an interval's length.
const (
	Shortest = time.Second
	Longest  = 24 * time.Hour
)

// Grid is intervals of one length, cut anew at each local midnight. The zero Grid is not usable. It may be
// used concurrently.
//
// Intervals up to one hour follow elapsed time since the day began; where a clock change leaves less than one
// length at the end of the day, the last interval is shorter. Longer intervals follow the wall clock (6 hours:
// 00:00, 06:00, 12:00, 18:00), so the one that contains the clock change is shorter or longer than the others.
type Grid struct {
	length time.Duration
	zone   *time.Location
}

// New returns the grid of a length in a zone. The length is 1 s to 24 h in whole seconds and divides 24 h;
// zone must not be nil.
func New(length time.Duration, zone *time.Location) (Grid, error) {
	if zone == nil {
		return Grid{}, fmt.Errorf("zone: missing: give the zone in which days begin, such as Europe/Berlin")
	}
	if err := Check(length); err != nil {
		return Grid{}, err
	}
	return Grid{length: length, zone: zone}, nil
}

// Check returns what is wrong with the length of an interval.
func Check(length time.Duration) error {
	switch {
	case length < Shortest || length > Longest:
		return fmt.Errorf("interval length %s: write 1s to 24h, such as 15m", length)
	case length%time.Second != 0 || Longest%length != 0:
		return fmt.Errorf("interval length %s: does not divide a day of 24 h: write such as 1m, 15m or 1h", length)
	case length > time.Hour && length%time.Minute != 0:
		return fmt.Errorf("interval length %s: above one hour, write whole minutes", length)
	}
	return nil
}

// Length returns the nominal length of an interval.
func (g Grid) Length() time.Duration { return g.length }

// Zone returns the zone in which days begin.
func (g Grid) Zone() *time.Location { return g.zone }

// Day returns the local day of a date. The day may lie outside the month, as with time.Date.
func (g Grid) Day(year int, month time.Month, day int) Day {
	d := Day{grid: g, start: dayStart(year, month, day, g.zone), end: dayStart(year, month, day+1, g.zone)}
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	d.year, d.month, d.day = date.Date()
	return d
}

// DayOf returns the day to which the interval that ends at a moment belongs: an interval that ends at midnight
// is the last one of the day before.
func (g Grid) DayOf(end time.Time) Day {
	year, month, day := end.Add(-1).In(g.zone).Date()
	return g.Day(year, month, day)
}

// Aligned reports whether an interval of the grid ends at a moment.
func (g Grid) Aligned(end time.Time) bool {
	_, ok := g.DayOf(end).Index(end)
	return ok
}

// Next returns the first end of an interval after a moment.
func (g Grid) Next(t time.Time) time.Time {
	year, month, day := t.In(g.zone).Date()
	d := g.Day(year, month, day)
	low, high := 0, d.Count()
	for low < high {
		if mid := (low + high) / 2; d.End(mid).After(t) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return d.End(low)
}

// Span calls f with each interval that ends after from and not after to, in order, until f returns false.
func (g Grid) Span(from, to time.Time, f func(start, end time.Time) bool) {
	year, month, day := from.In(g.zone).Date()
	for d := g.Day(year, month, day); d.start.Before(to); d = d.Next() {
		for i := range d.Count() {
			start, end := d.Start(i), d.End(i)
			if end.After(to) {
				return
			}
			if end.After(from) && !f(start, end) {
				return
			}
		}
	}
}
