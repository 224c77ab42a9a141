package query

import (
	"context"
	"fmt"
	"slices"
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
	Coverage  Coverage // of the whole range, also if Limit cut the samples
	Truncated bool     // Limit cut the samples
}

// Answer is what a range or plot gives: one Series for each point, in the order asked or in path
// order.
type Answer struct {
	From, To time.Time
	Step     time.Duration // length of a bucket of a down-sampled plot; 0: all samples
	Series   []Series
	Total    Coverage   // over the series whose interval is known
	Next     point.Path // the After of the next page of points; "" if this is the last
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

// affordable refuses early what the intervals say to be too much.
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

// answer completes what was collected with its coverage.
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
		s.Coverage = e.coverage(&c.entries[i], req, tally)
		coverages[i] = s.Coverage
	}
	a.Total = total(coverages)
	return a, nil
}

func (e *Engine) coverage(entry *catalog.Entry, req *Request, t tally) Coverage {
	cov := Coverage{Present: t.present, Bad: t.bad, Extra: t.extra}
	cov.Expected, cov.Known = expected(entry, req.From, req.To, t.first, e.now())
	return cov
}

// tallySteps is in how many steps the samples of a series are counted that a limit cut.
const tallySteps = 240

// stepOf returns the length of n steps between two times.
func stepOf(from, to time.Time, n int) time.Duration {
	return max(time.Microsecond, (to.Sub(from)/time.Duration(n) + time.Microsecond).Truncate(time.Microsecond))
}

// count asks the store for the sizes of the series that the limit may have cut.
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
	counts := make(map[point.Path]tally, len(list))
	for _, s := range list {
		counts[s.Point] = tallyBuckets(s.Buckets, &q, &c.entries[c.index[s.Point]], e.now())
	}
	return counts, nil
}

// tally counts the samples of one series.
type tally struct {
	present, bad int64
	extra        int64 // of present, those that no interval asks for
	first        time.Time
}

func newTally(samples []point.Sample, e *catalog.Entry) tally {
	var t tally
	steady := newPace(e.Interval)
	for i := range samples {
		if samples[i].Quality.IsBad() {
			t.bad++
			continue
		}
		t.present++
		switch {
		case e.Interval <= 0:
		case samples[i].Time.Before(e.Since):
			t.extra++
		default:
			t.extra += 1 - steady.one(samples[i].Time)
		}
	}
	if len(samples) > 0 {
		t.first = samples[0].Time
	}
	return t
}

// tallyBuckets counts by the buckets that a query gave.
func tallyBuckets(buckets []store.Bucket, q *store.Query, entry *catalog.Entry, now time.Time) tally {
	var t tally
	for i := range buckets {
		t.present += int64(buckets[i].Count)
		t.bad += int64(buckets[i].Bad)
		if t.first.IsZero() {
			t.first = buckets[i].FirstTime
		}
	}
	if entry.Interval <= 0 {
		return t
	}
	from, to := lifetime(entry, q.From, q.To, t.first, now)
	steady, counted := newPace(entry.Interval), int64(0)
	for i := range buckets {
		b := &buckets[i]
		counted += steady.step(later(b.Start, from), earlier(bucketEnd(q, b), to), int64(b.Count)-early(b, entry))
	}
	t.extra = t.present - counted
	return t
}

// bucketEnd returns where a bucket of the query ends.
func bucketEnd(q *store.Query, b *store.Bucket) time.Time {
	if i, ok := slices.BinarySearchFunc(q.Edges, b.Start, time.Time.Compare); ok && i+1 < len(q.Edges) {
		return q.Edges[i+1]
	}
	return b.Start.Add(q.Step)
}

// early returns how many samples of the bucket count as from before the entry's interval was set.
// Of a bucket that begins before and ends after, as many as the interval asks for do not.
func early(b *store.Bucket, e *catalog.Entry) int64 {
	count := int64(b.Count)
	switch {
	case e.Interval <= 0 || !b.FirstTime.Before(e.Since):
		return 0
	case b.LastTime.Before(e.Since):
		return count
	}
	return count - min(count, int64(b.LastTime.Sub(e.Since)/e.Interval)+1)
}

// collector sorts the runs that a store emits into series.
type collector struct {
	entries []catalog.Entry
	paths   []point.Path
	series  []Series
	index   map[point.Path]int
	left    int // samples that may still come
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
