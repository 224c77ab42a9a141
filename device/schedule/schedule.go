// Package schedule computes when devices are read: at the slots of a time grid, staggered within their group.
package schedule

import (
	"math/bits"
	"time"
)

// Schedule is the infinite sequence of slots k·interval + offset since 1970 UTC.
type Schedule struct {
	interval time.Duration
	offset   time.Duration // 0 ≤ offset < interval
}

// New returns the schedule with an interval, or the empty one for none, shifted by any offset.
func New(interval, offset time.Duration) Schedule {
	if interval <= 0 {
		return Schedule{}
	}
	offset %= interval
	if offset < 0 {
		offset += interval
	}
	return Schedule{interval: interval, offset: offset.Truncate(time.Microsecond)}
}

// Last returns the latest slot not after t.
func (s Schedule) Last(t time.Time) time.Time {
	since := t.UnixNano() - int64(s.offset)
	rest := since % int64(s.interval)
	if rest < 0 {
		rest += int64(s.interval)
	}
	return time.Unix(0, since-rest+int64(s.offset)).UTC()
}

// Next returns the first slot after t.
func (s Schedule) Next(t time.Time) time.Time { return s.Last(t).Add(s.interval) }

// Spread returns the position of a place within the period: 0, 1/2, 1/4, 3/4, 1/8 … of it (the van der Corput
// sequence), which is even for any number of places and never moves an existing one.
func Spread(place int, period time.Duration) time.Duration {
	moment, _ := bits.Mul64(bits.Reverse64(uint64(place)), uint64(period))
	return time.Duration(moment)
}
