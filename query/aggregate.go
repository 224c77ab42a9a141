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

// Summary is one point in steps.
type Summary struct {
	Info     point.Info
	Buckets  []store.Bucket // one for each step that holds samples
	Coverage Coverage
}

// Summaries is what an aggregation gives, in the order asked or in path order.
type Summaries struct {
	From, To time.Time
	Step     time.Duration
	Series   []Summary
	Total    Coverage
}

// Aggregate summarises the samples of the range in steps that start at From. Limit and Newest do
// not apply.
func (e *Engine) Aggregate(ctx context.Context, req Request, step time.Duration) (Summaries, error) {
	req.Limit = 0
	if err := req.check("query.Aggregate"); err != nil {
		return Summaries{}, err
	}
	if step < time.Millisecond {
		return Summaries{}, fault.E("query.Aggregate", fault.Invalid, "step", fmt.Errorf(
			"the step %v is too short; it must be at least 1ms", step))
	}
	entries, err := e.resolve(ctx, "query.Aggregate", req.Selection)
	if err != nil {
		return Summaries{}, err
	}
	buckets := int64(len(entries)) * (int64(req.To.Sub(req.From)/step) + 1)
	if buckets > int64(e.limits.Samples) {
		return Summaries{}, fault.E("query.Aggregate", fault.Invalid, "step", fmt.Errorf(
			"the answer would have up to %d steps and may have %d; use a longer step, a shorter time or fewer points",
			buckets, e.limits.Samples))
	}
	list, err := e.buckets(ctx, entries, &req, step)
	if err != nil {
		return Summaries{}, err
	}
	return e.summaries(entries, list, &req, step), nil
}

func (e *Engine) buckets(ctx context.Context, entries []catalog.Entry, req *Request, step time.Duration) ([]store.Series, error) {
	paths := make([]point.Path, len(entries))
	for i := range entries {
		paths[i] = entries[i].Path
	}
	whole := store.Range{Points: paths, From: req.From, To: req.To}
	return e.store.Aggregate(ctx, store.Query{Range: whole, Step: step})
}

func (e *Engine) summaries(entries []catalog.Entry, list []store.Series, req *Request, step time.Duration) Summaries {
	out := Summaries{From: req.From, To: req.To, Step: step, Series: make([]Summary, len(entries))}
	coverages := make([]Coverage, len(entries))
	for i := range entries {
		coverages[i] = e.coverage(&entries[i], req, tallyBuckets(list[i].Buckets, &entries[i]))
		out.Series[i] = Summary{Info: entries[i].Info, Buckets: list[i].Buckets, Coverage: coverages[i]}
	}
	out.Total = total(coverages)
	return out
}
