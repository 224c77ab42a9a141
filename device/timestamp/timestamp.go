// Package timestamp makes the times of a point's samples distinct.
package timestamp

import (
	"time"

	"voltbus/point"
)

// Point gives the samples of one point times that no two of them share, because two with one time would be one in the history. The zero
// value has seen no sample.
type Point struct {
	point.Stamp

	value   point.Value
	quality point.Quality
}

// reach is how far behind the last sample of a point one without a time of its own may lie to be put behind
// it: a device's clock may be ahead a little, and what the node itself says later is newer all the same.
const reach = time.Minute

// Put gives a sample of the point a time that no other has. One that says what the one before said, at the
// same time, is that one again.
func (d *Point) Put(s *point.Sample) {
	if d.Holds(s.Time) && d.value == s.Value && d.quality == s.Quality {
		s.Time = d.Last()
		return
	}
	s.Time = d.Next(s.Time)
	d.value, d.quality = s.Value, s.Quality
}

// Behind returns now, or a moment behind the last sample if that is a little later.
func (d *Point) Behind(now time.Time) time.Time {
	if last := d.Last(); !last.Before(now) && last.Sub(now) <= reach {
		return last.Add(time.Microsecond)
	}
	return now
}
