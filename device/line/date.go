package line

import (
	"slices"
	"time"

	"voltbus/device/clock"
	"voltbus/device/timestamp"
	"voltbus/point"
)

// dateScan gives the samples of a scan of all points unique times within each point. It costs nothing for devices whose samples have the times of
// their arrival.
func (u *Device) dateScan(samples []point.Sample, now clock.Instant) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.dates == nil {
		if !slices.ContainsFunc(samples, func(s point.Sample) bool { return s.Time.After(now.Wall) }) {
			return
		}
		u.dates = make([]timestamp.Point, len(u.paths))
	}
	for i := range samples {
		u.dates[i].Put(&samples[i])
	}
}

// dateNow returns a unique time for what the node itself states about a point now. The caller holds the mutex.
func (u *Device) dateNow(place int, q point.Quality, v point.Value, now clock.Instant) time.Time {
	if u.dates == nil {
		return now.Wall
	}
	s := point.Sample{Time: u.dates[place].Behind(now.Wall), Quality: q, Value: v}
	u.dates[place].Put(&s)
	return s.Time
}
