// Package timestamp makes the times of a point's samples distinct.
package timestamp

import (
	"time"

	"voltbus/point"
)

// Point assigns the samples of one point distinct times, because the history stores only one sample per time. The zero value has seen
// no sample.
type Point struct {
	point.Stamp

	value   point.Value
	quality point.Quality
}

// reach is how far before a point's last sample the arrival of one without its own time may lie and still be
// placed after it: a device's clock may be slightly ahead, and what the node itself states later is newer
// anyway.
const reach = time.Minute

// Put gives a sample of the point a time that no other has. A sample equal to the previous one, at the same
// time, counts as its repetition.
func (d *Point) Put(s *point.Sample) {
	if d.Holds(s.Time) && d.value == s.Value && d.quality == s.Quality {
		s.Time = d.Last()
		return
	}
	s.Time = d.Next(s.Time)
	d.value, d.quality = s.Value, s.Quality
}

// Behind returns now, or a moment after the last sample if that is slightly later.
func (d *Point) Behind(now time.Time) time.Time {
	if last := d.Last(); !last.Before(now) && last.Sub(now) <= reach {
		return last.Add(time.Microsecond)
	}
	return now
}
