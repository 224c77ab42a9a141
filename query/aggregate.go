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

// Aggregation tells how samples are summarised.
type Aggregation struct {
	Step      Step
	Zone      *time.Location // buckets are aligned to its local times; nil: steps begin at From, days are UTC days
	Functions []Function     // figures that Values returns, besides those of every store.Bucket
}

// Summary is the summary of one point in steps.
type Summary struct {
	Info     point.Info
	Buckets  []store.Bucket // one for each step with samples, or with a value in effect
	Ends     []time.Time    // of the buckets
	Expected []int64        // samples expected in each bucket; nil if the interval is unknown
	Coverage Coverage
}

// Summaries is the result of an aggregation, in the order requested or in path order.
type Summaries struct {
	From, To time.Time
	Aggregation
	Series []Summary
	Total  Coverage
	Next   point.Path // After for the next page of points; "" on the last

	Sources []Source // other nodes that the answer concerns; an Engine names none
}

// Aggregate summarises the samples of the range in steps. The first and the last bucket cover only samples in
// the range, though they may begin before and end after it. Limit and Newest do not apply.
func (e *Engine) Aggregate(ctx context.Context, req Request, how Aggregation) (Summaries, error) {
	const op = "query.Aggregate"
	req.Limit, req.Newest = 0, false
	if err := req.check(op); err != nil {
		return Summaries{}, err
	}
	if err := how.Step.check(how.Zone); err != nil {
		return Summaries{}, fault.E(op, fault.Invalid, "step", err)
	}
	entries, next, err := e.resolve(ctx, op, req.Selection)
	if err != nil {
		return Summaries{}, err
	}
	buckets := int64(len(entries)) * (int64(req.To.Sub(req.From)/how.Step.Length()) + 1)
	if buckets > int64(e.limits.Samples) {
		return Summaries{}, fault.E(op, fault.Invalid, "step", fmt.Errorf(
			"the answer would have up to %d steps and may have %d; use a longer step, a shorter time or fewer points",
			buckets, e.limits.Samples))
	}
	q := store.Query{
		Range:  store.Range{From: req.From, To: req.To},
		Edges:  how.Step.edges(req.From, req.To, how.Zone),
		Extras: extras(how.Functions, entries),
	}
	list, err := e.buckets(ctx, op, entries, &req, q)
	if err != nil {
		return Summaries{}, err
	}
	out := Summaries{From: req.From, To: req.To, Aggregation: how, Next: next}
	if out.Series, out.Total, err = e.summaries(ctx, entries, list, &q); err != nil {
		return Summaries{}, err
	}
	for i := range out.Series {
		e.ends(&out.Series[i], &entries[i], &req, q.Edges)
	}
	return out, nil
}

// buckets queries the store, unless it would have to read too much.
func (e *Engine) buckets(ctx context.Context, op string, entries []catalog.Entry, req *Request, q store.Query) ([]store.Series, error) {
	var sum int64
	paths := make([]point.Path, len(entries))
	for i := range entries {
		paths[i] = entries[i].Path
		sum += e.toRead(&entries[i], req)
	}
	if sum > int64(e.limits.Scan) {
		return nil, fault.E(op, fault.Invalid, "samples", fmt.Errorf(
			"about %d samples would have to be read and %d may be; ask for a shorter time or fewer points, "+
				"or in pages", sum, e.limits.Scan))
	}
	q.Range = store.Range{Points: paths, From: req.From, To: req.To}
	q.Extras.Until = e.now()
	return e.store.Aggregate(ctx, q)
}

// supposed is the assumed interval of points without one: that of a meter's load profile.
const supposed = 15 * time.Minute

// toRead estimates how many samples of a point lie in the range.
func (e *Engine) toRead(entry *catalog.Entry, req *Request) int64 {
	if n, known := expected(entry, req.From, req.To, time.Time{}, e.now()); known {
		return n
	}
	return max(0, int64(earlier(req.To, e.now()).Sub(req.From)/supposed))
}

func (e *Engine) summaries(ctx context.Context, entries []catalog.Entry, list []store.Series, q *store.Query) ([]Summary, Coverage, error) {
	known := make([]*catalog.Entry, len(entries))
	for i := range entries {
		known[i] = &entries[i]
	}
	tallies, err := tallyAll(ctx, e, known, list, q)
	if err != nil {
		return nil, Coverage{}, err
	}
	series := make([]Summary, len(entries))
	coverages := make([]Coverage, len(entries))
	for i := range entries {
		coverages[i] = e.coverage(&entries[i], q.From, q.To, tallies[i])
		series[i] = Summary{Info: entries[i].Info, Buckets: list[i].Buckets, Coverage: coverages[i]}
	}
	return series, total(coverages), nil
}

// ends completes the buckets of a point with their ends and the expected numbers of samples.
func (e *Engine) ends(s *Summary, entry *catalog.Entry, req *Request, edges []time.Time) {
	s.Ends = make([]time.Time, len(s.Buckets))
	if s.Coverage.Known {
		s.Expected = make([]int64, len(s.Buckets))
	}
	var first time.Time
	at := 0
	for i := range s.Buckets {
		b := &s.Buckets[i]
		for !edges[at].Equal(b.Start) {
			at++
		}
		s.Ends[i] = edges[at+1]
		if first.IsZero() {
			first = b.FirstTime
		}
		if s.Coverage.Known {
			s.Expected[i], _ = expected(entry, later(b.Start, req.From), earlier(s.Ends[i], req.To), first, e.now())
		}
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
