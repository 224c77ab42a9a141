package query

import (
	"math"
	"time"
)

// pace counts only as many of a point's samples as its interval expects: reporting more often than the interval does not compensate for
// silent periods. One sample may come an interval early or late. Ranges count sample by sample; plots, aggregates and heat maps by steps,
// within which extra samples cannot be distinguished from those that are on time. The zero pace is not ready; see newPace.
type pace struct {
	interval time.Duration
	credit   time.Duration // time for which no sample has been counted yet
	until    time.Time
}

// newPace begins with one interval of credit: there may be a sample at the beginning of the range.
func newPace(interval time.Duration) pace { return pace{interval: interval, credit: interval} }

// one counts a sample. Samples come in time order.
func (p *pace) one(t time.Time) int64 {
	length := time.Duration(0)
	if !p.until.IsZero() {
		length = min(t.Sub(p.until), 2*p.interval)
	}
	p.until = t
	p.credit = min(p.credit+max(0, length), 2*p.interval)
	return p.spend(1)
}

// step counts n samples of the time from begin to end. Steps come in time order and do not overlap.
func (p *pace) step(begin, end time.Time, n int64) int64 {
	length := max(0, min(end.Sub(begin), math.MaxInt64-p.interval)) // a range may be as long as a duration can be
	most := max(p.interval, 2*p.interval-length)                    // before the step: as for a sample, where the step is short
	if gap := begin.Sub(p.until); !p.until.IsZero() && gap > 0 {
		p.credit += min(gap, 2*p.interval)
	}
	p.credit = min(p.credit, most) + length
	p.until = end
	return p.spend(n)
}

// spend counts as many of n samples as the credit allows.
func (p *pace) spend(n int64) int64 {
	n = min(n, int64(p.credit/p.interval))
	p.credit -= time.Duration(n) * p.interval
	return n
}
