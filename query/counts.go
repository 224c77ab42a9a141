package query

import (
	"slices"
	"time"

	"voltbus/catalog"
)

// The bounds of the steps in which a heat map counts samples, where these are shorter than its cells.
const (
	maxFine    = 10_000       // steps of a point
	maxFineAll = 8 * maxCells // steps of all points: a store is asked in parts of maxCells, and each part costs anew
)

// fine returns in which steps the samples of a number of points are counted: the cells, or where they are longer than
// those in which a range is counted, parts of them, as far as the bounds allow. So a part with more samples than
// expected makes up for no other.
func (h *Heat) fine(points int) time.Duration {
	span, short := h.To.Sub(h.From), tallyStep(h.From, h.To)
	most := min(maxFine, maxFineAll/max(1, points))
	if short < time.Hour {
		most = maxCells / max(1, points) // a store reads all samples for each part
	}
	for n := max(1, (h.Step+short-1)/short); n <= 2*h.Step/short; n++ {
		if step := h.Step / n; h.Step%n == 0 && step%time.Microsecond == 0 && int(span/step) <= most {
			return step
		}
	}
	for hours, n := h.Step/time.Hour, time.Duration(1); n < hours; n++ {
		if step := n * time.Hour; hours%n == 0 && int(span/step) <= most {
			return step
		}
	}
	return h.Step
}

// counts has how many samples a point has in each step from a time on. Without any, list is empty.
type counts struct {
	from time.Time
	step time.Duration
	list []uint32
}

// between counts of the samples from begin to end those that the pace asks for.
func (c counts) between(p *pace, begin, end time.Time) int64 {
	var sum int64
	for at := begin; at.Before(end) && len(c.list) > 0; {
		i := at.Sub(c.from) / c.step
		next := earlier(c.from.Add((i+1)*c.step), end)
		sum += p.step(at, next, int64(c.list[i]))
		at = next
	}
	return sum
}

// first returns when the first of the samples can have come at the latest, if they came at the entry's
// interval and none is missing behind it; zero without samples. Of a wide step only the count is known,
// and the time in it before the point was there is not time that lacks samples.
func (c counts) first(e *catalog.Entry, now time.Time) time.Time {
	i := slices.IndexFunc(c.list, func(n uint32) bool { return n > 0 })
	if i < 0 {
		return time.Time{}
	}
	begin := c.from.Add(time.Duration(i) * c.step)
	_, end := lifetime(e, begin, begin.Add(c.step), begin, now)
	if int64(c.list[i]) > int64(c.step/e.Interval) {
		return begin
	}
	return later(begin, end.Add(-time.Duration(c.list[i])*e.Interval))
}
