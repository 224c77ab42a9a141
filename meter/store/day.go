package store

import (
	"fmt"
	"sync"
	"time"

	"voltbus/meter/interval"
)

// Day is a local date: days since 1970-01-01.
type Day int32

// DayOf returns the day of a date.
func DayOf(year int, month time.Month, day int) Day {
	return Day(time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / 86400)
}

// ParseDay reads a date such as 2026-03-29.
func ParseDay(text string) (Day, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return 0, fmt.Errorf("date %q: write year, month and day, such as 2026-03-29", text)
	}
	return DayOf(t.Date()), nil
}

// Date returns year, month and day.
func (d Day) Date() (year int, month time.Month, day int) {
	return time.Unix(int64(d)*86400, 0).UTC().Date()
}

// String returns the date, such as "2026-03-29".
func (d Day) String() string { return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly) }

// Calendar cuts time into the local days of a zone. An interval belongs to the day in which it lies: one that
// ends at midnight is the last of its day. It is safe for concurrent use.
type Calendar struct {
	zone *time.Location
	mu   sync.Mutex
	days map[Day]Bounds
}

// Bounds are the first moment of a day and that of the next, in Unix microseconds.
type Bounds struct{ Start, End int64 }

// NewCalendar returns the calendar of a zone, which must not be nil.
func NewCalendar(zone *time.Location) *Calendar {
	return &Calendar{zone: zone, days: make(map[Day]Bounds)}
}

// Zone returns the zone.
func (c *Calendar) Zone() *time.Location { return c.zone }

// Of returns the day to which what ends at a moment (Unix microseconds) belongs.
func (c *Calendar) Of(end int64) Day {
	return DayOf(time.UnixMicro(end - 1).In(c.zone).Date())
}

// keepDays bounds the days whose bounds are remembered.
const keepDays = 4096

// Bounds returns when the day begins and ends.
func (c *Calendar) Bounds(d Day) Bounds {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.days[d]
	if !ok {
		start, end := c.day(d, time.Hour).Bounds()
		b = Bounds{start.UnixMicro(), end.UnixMicro()}
		if len(c.days) >= keepDays {
			clear(c.days)
		}
		c.days[d] = b
	}
	return b
}

func (c *Calendar) day(d Day, length time.Duration) interval.Day {
	g, err := interval.New(length, c.zone)
	if err != nil { // channels are checked when they are registered
		g, _ = interval.New(time.Hour, c.zone)
	}
	return g.Day(d.Date())
}

// Ends appends the ends of the day's intervals of a length to dst.
func (c *Calendar) Ends(dst []int64, d Day, length time.Duration) []int64 {
	day := c.day(d, length)
	for i := range day.Count() {
		dst = append(dst, day.End(i).UnixMicro())
	}
	return dst
}

// Count returns how many intervals of a length the day has.
func (c *Calendar) Count(d Day, length time.Duration) int { return c.day(d, length).Count() }

// Cutter finds the places of many readings, one after another. It is used by one goroutine.
type Cutter struct {
	calendar *Calendar
	day      Day
	bounds   Bounds
}

// NewCutter returns a cutter of the calendar.
func (c *Calendar) NewCutter() *Cutter { return &Cutter{calendar: c} }

// Cut returns the day of an end, and its place there: the number of the interval of that length, from 0; for an
// end at which none ends, or a channel without intervals, −1 − milliseconds since the day began.
func (k *Cutter) Cut(end int64, length time.Duration) (Day, int32) {
	if end <= k.bounds.Start || end > k.bounds.End {
		k.day = k.calendar.Of(end)
		k.bounds = k.calendar.Bounds(k.day)
	}
	since := end - k.bounds.Start
	if length > time.Hour {
		if i, ok := k.calendar.day(k.day, length).Index(time.UnixMicro(end)); ok {
			return k.day, int32(i)
		}
	} else if step := length.Microseconds(); step > 0 {
		switch {
		case since%step == 0:
			return k.day, int32(since/step) - 1
		case end == k.bounds.End:
			return k.day, int32(since / step)
		}
	}
	return k.day, int32(-1 - since/1000)
}

// End is the inverse of Cut, in Unix microseconds.
func (c *Calendar) End(d Day, length time.Duration, place int32) int64 {
	b := c.Bounds(d)
	switch {
	case place < 0:
		return b.Start + int64(-1-place)*1000
	case length > time.Hour:
		return c.day(d, length).End(int(place)).UnixMicro()
	}
	return min(b.Start+int64(place+1)*length.Microseconds(), b.End)
}
