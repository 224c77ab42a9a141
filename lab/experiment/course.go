package experiment

import (
	"runtime"
	"slices"
	"time"
)

// Moment is the progress of a trial at one time, as far as it was reported.
type Moment struct {
	Repeat  int     `json:"repeat"`            // from 1
	At      float64 `json:"at"`                // seconds since the repeat began
	Rate    float64 `json:"rate,omitempty"`    // operations a second
	Clients int     `json:"clients,omitempty"` // simulated clients that were connected
	P50     float64 `json:"p50,omitempty"`     // seconds
	P99     float64 `json:"p99,omitempty"`     // seconds
	CPU     float64 `json:"cpu,omitempty"`     // cores in use by the run's own process
	Memory  uint64  `json:"memory,omitempty"`  // bytes resident in the run's own process
}

// mostMoments is how many moments of a case are kept.
const mostMoments = 240

// course keeps moments of a case: all of a short one, of a long one each second, fourth, eighth.
type course struct {
	began   time.Time // of the repeat
	stride  int
	seen    int
	moments []Moment
}

// begin starts a repeat, counted from 0; the first one forgets the case before.
func (c *course) begin(repeat int, now time.Time) {
	c.began = now
	if repeat == 0 {
		c.stride, c.seen, c.moments = 1, 0, nil
	}
}

// add keeps the progress that p reports; other news is not a moment.
func (c *course) add(p *Progress) {
	if p.Rate <= 0 && p.P99 <= 0 {
		return
	}
	c.seen++
	if c.stride == 0 || c.seen%c.stride != 0 {
		return
	}
	c.moments = append(c.moments, Moment{
		Repeat: p.Repeat, At: p.Time.Sub(c.began).Seconds(),
		Rate: p.Rate, Clients: p.Clients, P50: p.P50, P99: p.P99, CPU: p.CPU, Memory: p.Memory,
	})
	if len(c.moments) < mostMoments {
		return
	}
	kept := c.moments[:0]
	for i := 1; i < len(c.moments); i += 2 {
		kept = append(kept, c.moments[i])
	}
	c.moments, c.stride = kept, c.stride*2
}

// kept returns the moments so far.
func (c *course) kept() []Moment { return slices.Clone(c.moments) }

// Collections says what the garbage collection of the run's own process cost in all repeats.
type Collections struct {
	Count uint32  `json:"count"`
	Pause float64 `json:"pause"` // seconds in which everything stood still
}

// collections reads what was collected since the process began.
func collections() Collections {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return Collections{Count: m.NumGC, Pause: time.Duration(m.PauseTotalNs).Seconds()} //nolint:gosec // nanoseconds of pauses
}

// since returns what was collected after the moment of before.
func (c Collections) since(before Collections) Collections {
	return Collections{Count: c.Count - before.Count, Pause: c.Pause - before.Pause}
}

func (c *Collections) add(more Collections) {
	c.Count += more.Count
	c.Pause += more.Pause
}
