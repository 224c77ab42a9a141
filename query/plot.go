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

// The permitted widths of a plot, in pixels.
const (
	MinPixels = 10
	MaxPixels = 10_000
)

// perPixel is how many samples represent one column of pixels: the first, the smallest, the greatest and the
// last draw the same line as all of them.
const perPixel = 4

// Plot returns what a line of the width in pixels can show of the range. If there are few samples it returns
// all of them, and Step is 0. Otherwise every Step, one pixel wide, is represented by its first, smallest,
// greatest and last sample at their own times, so that no peak is lost; a step with only bad samples by one
// bad sample. Booleans become 0 and 1. Points that hold text give their newest samples. Limit and Newest do
// not apply.
func (e *Engine) Plot(ctx context.Context, req Request, pixels int) (Answer, error) {
	req.Limit, req.Newest, req.Page, req.After = 0, false, 0, ""
	if err := req.check("query.Plot"); err != nil {
		return Answer{}, err
	}
	if pixels < MinPixels || pixels > MaxPixels {
		return Answer{}, fault.E("query.Plot", fault.Invalid, "pixels", fmt.Errorf(
			"%d pixels cannot be plotted; ask for %d to %d", pixels, MinPixels, MaxPixels))
	}
	entries, _, err := e.resolve(ctx, "query.Plot", req.Selection)
	if err != nil {
		return Answer{}, err
	}
	if n := len(entries) * pixels * perPixel; n > e.limits.Samples {
		return Answer{}, fault.E("query.Plot", fault.Invalid, "points", fmt.Errorf(
			"%d points of %d pixels are too much for one plot; name at most %d points, or use fewer pixels",
			len(entries), pixels, e.limits.Samples/pixels/perPixel))
	}
	if e.few(entries, &req, pixels*perPixel) {
		a, fits, err := e.plotAll(ctx, entries, req, pixels*perPixel)
		if err != nil || fits {
			return a, err
		}
	}
	return e.plotSteps(ctx, entries, req, pixels)
}

// few reports whether, by the intervals, at most budget samples per point are expected.
func (e *Engine) few(entries []catalog.Entry, req *Request, budget int) bool {
	for i := range entries {
		n, _ := expected(&entries[i], req.From, req.To, time.Time{}, e.now())
		if n > int64(budget) && entries[i].Kind != point.Text {
			return false
		}
	}
	return true
}

// plotAll returns all samples, or false if a point other than text has more than the budget.
func (e *Engine) plotAll(ctx context.Context, entries []catalog.Entry, req Request, budget int) (Answer, bool, error) {
	req.Limit, req.Newest = budget+1, true
	c := newCollector(entries, len(entries)*(budget+1))
	if err := e.store.Read(ctx, req.storeRange(c.paths), c.add); err != nil {
		return Answer{}, false, err
	}
	for i := range c.series {
		if s := c.series[i].Samples; len(s) > budget && !isText(s) {
			return Answer{}, false, nil
		}
		booleansToNumbers(c.series[i].Samples)
	}
	a, err := e.answer(ctx, c, &req)
	return a, true, err
}

func isText(samples []point.Sample) bool {
	return slices.ContainsFunc(samples, func(s point.Sample) bool { return s.Value.Kind() == point.Text })
}

func booleansToNumbers(samples []point.Sample) {
	for i := range samples {
		if v := samples[i].Value; v.Kind() == point.Bool {
			samples[i].Value = point.IntOf(int64(v.Bits()))
		}
	}
}

// plotSteps returns the samples that represent each step.
func (e *Engine) plotSteps(ctx context.Context, entries []catalog.Entry, req Request, pixels int) (Answer, error) {
	step := stepOf(req.From, req.To, pixels)
	q := store.Query{Range: store.Range{From: req.From, To: req.To}, Step: step}
	list, err := e.buckets(ctx, "query.Plot", entries, &req, q)
	if err != nil {
		return Answer{}, err
	}
	series, all, err := e.summaries(ctx, entries, list, &q)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{From: req.From, To: req.To, Step: step, Total: all, Series: make([]Series, len(entries))}
	var texts []catalog.Entry
	for i := range series {
		s := &series[i]
		a.Series[i] = Series{Info: s.Info, Coverage: s.Coverage}
		for j := range s.Buckets {
			a.Series[i].Samples = appendPeaks(a.Series[i].Samples, s.Info.Path, &s.Buckets[j])
		}
		if s.Coverage.Present > 0 && !slices.ContainsFunc(s.Buckets, hasFigures) {
			texts = append(texts, entries[i])
		}
	}
	if len(texts) == 0 {
		return a, nil
	}
	return e.plotTexts(ctx, a, texts, req, pixels*perPixel)
}

// hasFigures reports whether the bucket has numbers; text does not.
func hasFigures(b store.Bucket) bool { return !b.MinTime.IsZero() }

// plotTexts fills in the newest samples of points without figures.
func (e *Engine) plotTexts(ctx context.Context, a Answer, texts []catalog.Entry, req Request, budget int) (Answer, error) {
	req.Limit, req.Newest = budget, true
	c := newCollector(texts, len(texts)*budget)
	if err := e.store.Read(ctx, req.storeRange(c.paths), c.add); err != nil {
		return Answer{}, err
	}
	for i := range a.Series {
		s := &a.Series[i]
		if j, ok := c.index[s.Info.Path]; ok {
			s.Samples = c.series[j].Samples
			s.Truncated = int64(len(s.Samples)) < s.Coverage.Present+s.Coverage.Bad
		}
	}
	return a, nil
}

// appendPeaks appends the bucket's first, smallest, greatest and last sample in time order, each once.
func appendPeaks(dst []point.Sample, p point.Path, b *store.Bucket) []point.Sample {
	if !hasFigures(*b) {
		if b.Count == 0 && b.Bad > 0 {
			dst = append(dst, point.Sample{Point: p, Time: b.Start, Quality: point.Bad})
		}
		return dst
	}
	peaks := [perPixel]point.Sample{
		{Point: p, Time: b.FirstTime, Value: point.FloatOf(b.First)},
		{Point: p, Time: b.MinTime, Value: point.FloatOf(b.Min)},
		{Point: p, Time: b.MaxTime, Value: point.FloatOf(b.Max)},
		{Point: p, Time: b.LastTime, Value: point.FloatOf(b.Last)},
	}
	if b.MaxTime.Before(b.MinTime) {
		peaks[1], peaks[2] = peaks[2], peaks[1]
	}
	start := len(dst)
	for _, s := range peaks {
		if len(dst) == start || s.Time.After(dst[len(dst)-1].Time) {
			dst = append(dst, s)
		}
	}
	return dst
}
