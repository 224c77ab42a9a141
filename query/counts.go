package query

import (
	"slices"
	"time"

	"voltbus/catalog"
)

// Bounds of the steps in which a heat map counts samples, if these are shorter than its cells.
const (
	maxFine    = 10_000       // steps of a point
	maxFineAll = 8 * maxCells // steps of all points: a store is queried in parts of maxCells, and each part has its own cost
)

// fine returns the steps in which the samples of a number of points are counted: the cells or, if these are longer
// than the counting steps of a range, parts of them, as far as the bounds allow. So a surplus in one part does not
// compensate for another part.
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

// counts holds the number of a point's samples in each step from a time on. Without any, list is empty.
type counts struct {
	from time.Time
	step time.Duration
	list []uint32
}

// between counts the samples from begin to end that the pace expects.
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

// first returns the latest possible time of the first sample, if samples came at the entry's interval and
// none after it is missing; zero without samples. For a wide step only the count is known, and the part of it
// before the point existed does not lack samples.
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
