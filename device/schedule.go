package device

import (
	"math/bits"
	"time"
)

// schedule is the endless row of slots k·interval + offset since 1970 UTC.
type schedule struct {
	interval time.Duration
	offset   time.Duration // 0 ≤ offset < interval
}

// newSchedule returns the schedule of a device that has the given place in its group.
func newSchedule(c Config, place int) schedule {
	if c.Interval <= 0 {
		return schedule{}
	}
	offset := (c.Offset + spread(place, c.Stagger)) % c.Interval
	if offset < 0 {
		offset += c.Interval
	}
	return schedule{interval: c.Interval, offset: offset.Truncate(time.Microsecond)}
}

// last returns the latest slot that is not after t.
func (s schedule) last(t time.Time) time.Time {
	since := t.UnixNano() - int64(s.offset)
	rest := since % int64(s.interval)
	if rest < 0 {
		rest += int64(s.interval)
	}
	return time.Unix(0, since-rest+int64(s.offset)).UTC()
}

// next returns the first slot after t.
func (s schedule) next(t time.Time) time.Time { return s.last(t).Add(s.interval) }

// spread returns the moment of a place within the period: 0, 1/2, 1/4, 3/4, 1/8 … of it (the
// van der Corput sequence), which is even for any number of places and never moves one.
func spread(place int, period time.Duration) time.Duration {
	moment, _ := bits.Mul64(bits.Reverse64(uint64(place)), uint64(period))
	return time.Duration(moment)
}
