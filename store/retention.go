package store

import "time"

// Retention bounds what a store keeps. Whole UTC days are dropped, oldest first, by Maintain.
// The zero Retention keeps everything.
type Retention struct {
	Age   time.Duration // drop a day when its end is this long ago; 0 keeps it
	Bytes int64         // drop closed days while the closed days are larger in sum; 0 keeps them
}

// Day is a UTC day, counted from 1970-01-01.
type Day int32

const dayMicros = int64(24 * time.Hour / time.Microsecond)

// DayOf returns the day that holds a time in microseconds since 1970.
func DayOf(micros int64) Day { return Day(floorDiv(micros, dayMicros)) }

// Start returns the first instant of the day.
func (d Day) Start() time.Time { return time.UnixMicro(int64(d) * dayMicros).UTC() }

// End returns the first instant after the day.
func (d Day) End() time.Time { return (d + 1).Start() }

// String returns the date, such as "2026-11-20".
func (d Day) String() string { return d.Start().Format(time.DateOnly) }

// Expired reports whether Age alone drops the day at the time now.
func (r Retention) Expired(d Day, now time.Time) bool {
	return r.Age > 0 && !d.End().After(now.Add(-r.Age))
}
