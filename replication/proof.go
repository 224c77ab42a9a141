package replication

import "time"

// proof compares what all replicas acknowledged at a moment with what each of them has stored since. Under load the numbers are never the same
// at the same time.
type proof struct {
	asked time.Time         // of the comparison that is under way; zero for none
	want  map[string]uint64 // samples that were acknowledged then, by origin

	until     time.Time // everything that was acknowledged until then is stored at all; zero if that was never seen
	confirmed uint64    // samples
}

// compare continues the comparison, or begins one if all replicas have told lately.
func (p *proof) compare(all map[string]*seen, now time.Time) {
	if !complete(all, now) {
		p.want = nil
		return
	}
	if p.want != nil && p.stored(all) {
		p.until, p.confirmed = p.asked, 0
		for _, n := range p.want {
			p.confirmed += n
		}
		p.want = nil
	}
	if p.want == nil {
		p.asked, p.want = now, map[string]uint64{}
		for _, s := range all {
			if s.joining {
				continue
			}
			if s.heard.Before(p.asked) {
				p.asked = s.heard
			}
			for origin, place := range s.state.Acknowledged {
				p.want[origin] = max(p.want[origin], place.Samples)
			}
		}
	}
}

// complete reports whether each replica is reached and has told lately.
func complete(all map[string]*seen, now time.Time) bool {
	for _, s := range all {
		if !s.joining && (!s.reached || now.Sub(s.heard) > fresh) {
			return false
		}
	}
	return len(all) > 0
}

// stored reports whether all that was acknowledged is stored at each replica that has a store.
func (p *proof) stored(all map[string]*seen) bool {
	stores := 0
	for _, s := range all {
		if s.joining || s.state.Store == StoreNone {
			continue
		}
		stores++
		for origin, n := range p.want {
			if at := s.state.Stored[origin]; at.Samples < n || at.Missing > 0 {
				return false
			}
		}
	}
	return stores > 0
}

// Names of stores that are no database: StoreNone is that of a witness.
const (
	StoreNone  = "none"
	StoreFiles = "files"
)

// course remembers when how much was acknowledged, to say how long something waits.
type course struct{ points []coursePoint }

type coursePoint struct {
	at      time.Time
	samples uint64
}

// mostPoints bounds a course: what waits for longer is said to wait that long.
const mostPoints = 900

func (c *course) note(at time.Time, samples uint64) {
	if n := len(c.points); n > 0 && c.points[n-1].samples == samples {
		return
	}
	if len(c.points) == mostPoints {
		c.points = append(c.points[:0], c.points[1:]...)
	}
	c.points = append(c.points, coursePoint{at, samples})
}

// waits returns how long that has been waiting which comes after so many samples.
func (c *course) waits(now time.Time, samples uint64) time.Duration {
	for _, p := range c.points {
		if p.samples > samples {
			return now.Sub(p.at)
		}
	}
	return 0
}
