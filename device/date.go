package device

import (
	"slices"
	"time"

	"voltbus/device/clock"
	"voltbus/point"
)

// date is what a point's newest sample said, and the times that its samples got: two with one time would
// be one in the history.
type date struct {
	point.Stamp

	value   point.Value
	quality point.Quality
}

// reach is how far behind the last sample of a point one without a time of its own may lie to be put behind
// it: a device's clock may be ahead a little, and what the node itself says later is newer all the same.
const reach = time.Minute

// put gives a sample of the point a time that no other has. One that says what the one before said, at the
// same time, is that one again.
func (d *date) put(s *point.Sample) {
	if d.Holds(s.Time) && d.value == s.Value && d.quality == s.Quality {
		s.Time = d.Last()
		return
	}
	s.Time = d.Next(s.Time)
	d.value, d.quality = s.Value, s.Quality
}

// behind returns now, or a moment behind the last sample if that is a little later.
func (d *date) behind(now time.Time) time.Time {
	if last := d.Last(); !last.Before(now) && last.Sub(now) <= reach {
		return last.Add(time.Microsecond)
	}
	return now
}

// dateScan gives the samples of a scan of all points times that no others of their points have. It costs nothing for devices whose samples have the times of
// their arrival.
func (u *unit) dateScan(samples []point.Sample, now clock.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dates == nil {
		if !slices.ContainsFunc(samples, func(s point.Sample) bool { return s.Time.After(now.Wall) }) {
			return
		}
		u.dates = make([]date, len(u.paths))
	}
	for i := range samples {
		u.dates[i].put(&samples[i])
	}
}

// dateNow returns a time for what the node itself says of a point now. The mutex is held.
func (u *unit) dateNow(place int, q point.Quality, v point.Value, now clock.Instant) time.Time {
	if u.dates == nil {
		return now.Wall
	}
	s := point.Sample{Time: u.dates[place].behind(now.Wall), Quality: q, Value: v}
	u.dates[place].put(&s)
	return s.Time
}
