package query

import (
	"context"
	"fmt"
	"time"

	"voltbus/catalog"
	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// Series are the samples of one point, in time order.
type Series struct {
	Info      point.Info
	Samples   []point.Sample
	Coverage  Coverage // of the whole range, even if Limit truncated the samples
	Truncated bool     // Limit truncated the samples
}

// Answer is the result of a range or plot: one Series per point, in the order requested or in path order.
type Answer struct {
	From, To time.Time
	Step     time.Duration // length of a bucket of a down-sampled plot; 0: all samples
	Series   []Series
	Total    Coverage   // over the series whose interval is known
	Next     point.Path // After for the next page of points; "" on the last
	Sources  []Source   // other nodes that the answer concerns; an Engine names none
}

// Range returns the samples of a range.
func (e *Engine) Range(ctx context.Context, req Request) (Answer, error) {
	if err := req.check("query.Range"); err != nil {
		return Answer{}, err
	}
	entries, next, err := e.resolve(ctx, "query.Range", req.Selection)
	if err != nil {
		return Answer{}, err
	}
	if err := e.affordable(entries, &req); err != nil {
		return Answer{}, err
	}
	c := newCollector(entries, e.limits.Samples)
	if err := e.store.Read(ctx, req.storeRange(c.paths), c.add); err != nil {
		return Answer{}, err
	}
	a, err := e.answer(ctx, c, &req)
	a.Next = next
	return a, err
}

// affordable refuses early what is too much according to the intervals.
func (e *Engine) affordable(entries []catalog.Entry, req *Request) error {
	var sum int64
	for i := range entries {
		n, _ := expected(&entries[i], req.From, req.To, time.Time{}, e.now())
		if req.Limit > 0 {
			n = min(n, int64(req.Limit))
		}
		sum += n
	}
	if sum > int64(e.limits.Samples) {
		return tooLarge("query.Range", sum, e.limits.Samples)
	}
	return nil
}

func tooLarge(op string, n int64, most int) error {
	return fault.E(op, fault.Invalid, "samples", fmt.Errorf(
		"the answer has about %d samples and may have %d; shorten the time, name fewer points, "+
			"set a limit, or use plot, aggregate or export", n, most))
}

// answer completes the collected series with their coverage.
func (e *Engine) answer(ctx context.Context, c *collector, req *Request) (Answer, error) {
	counts, err := e.count(ctx, c, req)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{From: req.From, To: req.To, Series: c.series}
	coverages := make([]Coverage, len(c.series))
	for i := range c.series {
		s := &c.series[i]
		tally := newTally(s.Samples, &c.entries[i])
		if t, ok := counts[s.Info.Path]; ok {
			tally, s.Truncated = t, int64(len(s.Samples)) < t.present+t.bad
		}
		s.Coverage = e.coverage(&c.entries[i], req.From, req.To, tally)
		coverages[i] = s.Coverage
	}
	a.Total = total(coverages)
	return a, nil
}

func (e *Engine) coverage(entry *catalog.Entry, from, to time.Time, t tally) Coverage {
	cov := Coverage{Present: t.present, Bad: t.bad, Extra: t.extra}
	cov.Expected, cov.Known = expected(entry, from, to, t.first, e.now())
	return cov
}

// count queries the store for the sizes of series that the limit may have truncated.
func (e *Engine) count(ctx context.Context, c *collector, req *Request) (map[point.Path]tally, error) {
	var cut []point.Path
	for i := range c.series {
		if req.Limit > 0 && len(c.series[i].Samples) >= req.Limit {
			cut = append(cut, c.series[i].Info.Path)
		}
	}
	if len(cut) == 0 {
		return nil, nil
	}
	whole := store.Range{Points: cut, From: req.From, To: req.To}
	q := store.Query{Range: whole, Step: stepOf(req.From, req.To, tallySteps)}
	list, err := e.store.Aggregate(ctx, q)
	if err != nil {
		return nil, err
	}
	entries := make([]*catalog.Entry, len(cut))
	for i, p := range cut {
		entries[i] = &c.entries[c.index[p]]
	}
	tallies, err := tallyAll(ctx, e, entries, list, &q)
	if err != nil {
		return nil, err
	}
	counts := make(map[point.Path]tally, len(list))
	for i, p := range cut {
		counts[p] = tallies[i]
	}
	return counts, nil
}

// collector sorts the runs that a store emits into series.
type collector struct {
	entries []catalog.Entry
	paths   []point.Path
	series  []Series
	index   map[point.Path]int
	left    int // samples that may still be added
	most    int
}

func newCollector(entries []catalog.Entry, most int) *collector {
	c := &collector{entries: entries, index: make(map[point.Path]int, len(entries)), left: most, most: most}
	for i := range entries {
		c.index[entries[i].Path] = i
		c.paths = append(c.paths, entries[i].Path)
		c.series = append(c.series, Series{Info: entries[i].Info})
	}
	return c
}

func (c *collector) add(run []point.Sample) error {
	if c.left -= len(run); c.left < 0 {
		return tooLarge("query.Range", int64(c.most-c.left), c.most)
	}
	for len(run) > 0 {
		n := 1
		for n < len(run) && run[n].Point == run[0].Point {
			n++
		}
		s := &c.series[c.index[run[0].Point]]
		s.Samples = append(s.Samples, run[:n]...)
		run = run[n:]
	}
	return nil
}
