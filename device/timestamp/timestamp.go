// Package timestamp makes the times of a point's samples distinct.
package timestamp

import (
	"slices"
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

// Points are the times of all points of a device, by index. The zero value has seen no sample, and costs nothing while no sample has a time of its own.
type Points struct{ list []Point }

// Scan is Put for the samples of a scan of all points, in order.
func (p *Points) Scan(samples []point.Sample, now time.Time) {
	if p.list == nil && !slices.ContainsFunc(samples, func(s point.Sample) bool { return s.Time.After(now) }) {
		return
	}
	for i := range samples {
		p.Put(i, len(samples), &samples[i])
	}
}

// Put is Put for a sample of one of n points.
func (p *Points) Put(place, n int, s *point.Sample) {
	if p.list == nil {
		p.list = make([]Point, n)
	}
	p.list[place].Put(s)
}

// Now returns a unique time for what the node itself states about a point now.
func (p *Points) Now(place int, q point.Quality, v point.Value, now time.Time) time.Time {
	if p.list == nil {
		return now
	}
	s := point.Sample{Time: p.list[place].Behind(now), Quality: q, Value: v}
	p.list[place].Put(&s)
	return s.Time
}
