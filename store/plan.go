package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"voltbus/fault"
)

// Extras are figures in addition to those of every bucket. The zero Extras requests none.
type Extras struct {
	Quantiles []float64 // from 0 to 1: exact, between two samples by linear interpolation
	Deviation bool      // the standard deviation of all samples of the bucket (divided by their number)

	// Hold requests the time-weighted mean. For each point of the query it is how long a value remains in
	// effect when no other follows it. The last sample before From is included if it is not older. Bad
	// samples and those without a number end the effect of the previous one. A bucket without samples is
	// returned if a value is in effect in it. With a Limit only the samples within it count.
	Hold  []time.Duration
	Until time.Time // no value is in effect later; zero for the end of the range
}

// Extra holds the figures requested by Extras.
type Extra struct {
	Quantiles []float64 // in the order requested; nil without numbers
	Deviation float64
	Weighted  float64       // time-weighted mean over Held
	Held      time.Duration // how long a value was in effect
}

var (
	errEdges    = errors.New("the edges of the buckets must ascend, and the range must lie between them")
	errQuantile = errors.New("a quantile lies between 0 and 1")
	errHold     = errors.New("there must be one time for each point, and none may be negative")
)

func (q *Query) checkExtras() error {
	if slices.ContainsFunc(q.Extras.Quantiles, func(f float64) bool { return !(f >= 0 && f <= 1) }) {
		return errQuantile
	}
	hold := q.Extras.Hold
	if hold != nil && (len(hold) != len(q.Points) || slices.ContainsFunc(hold, func(d time.Duration) bool { return d < 0 })) {
		return errHold
	}
	return nil
}

func (q *Query) checkEdges() error {
	n := len(q.Edges)
	for i := 1; i < n; i++ {
		if q.Edges[i].Sub(q.Edges[i-1]) < time.Microsecond {
			return errEdges
		}
	}
	if n < 2 || q.From.Before(q.Edges[0]) || q.To.After(q.Edges[n-1]) {
		return errEdges
	}
	return nil
}

// maxKept is the maximum number of values an aggregation keeps at once for quantiles.
const maxKept = 4 << 20

// Plan is the plan for answering a checked Query; its Folds share it. It is not safe for concurrent use.
type Plan struct {
	query    *Query
	from, to int64 // microseconds
	until    int64 // when values cease to be in effect
	step     int64
	edges    []int64
	kept     int  // values in memory
	over     bool // maxKept was exceeded
}

// NewPlan returns a plan for the query, which must not change until the plan has done its work.
func NewPlan(q *Query) *Plan {
	p := &Plan{query: q, from: q.From.UnixMicro(), to: q.To.UnixMicro(), step: max(1, q.Step.Microseconds())}
	p.until = p.to
	if u := q.Extras.Until; !u.IsZero() {
		p.until = min(p.to, u.UnixMicro())
	}
	for _, e := range q.Edges {
		p.edges = append(p.edges, e.UnixMicro())
	}
	return p
}

// Range returns what must be read: the query's range, and before it what may be in effect until From.
func (p *Plan) Range() Range {
	r := p.query.Range
	if r.Limit == 0 && len(p.query.Extras.Hold) > 0 {
		if earlier := r.From.Add(-slices.Max(p.query.Extras.Hold)); earlier.UnixMicro() > firstTime {
			r.From = earlier
		}
	}
	return r
}

// Err returns fault.Invalid, with a suggestion, if the quantiles need more memory than permitted. Stores call
// it often, so as to end early.
func (p *Plan) Err(op string) error {
	if !p.over {
		return nil
	}
	return fault.E(op, fault.Invalid, "percentiles", fmt.Errorf(
		"they would need more than %d samples in memory at once; use a shorter step, fewer points or a shorter time", maxKept))
}

// Fold returns a Fold for the query's point i.
func (p *Plan) Fold(i int) *Fold {
	f := &Fold{plan: p, end: math.MinInt64}
	if hold := p.query.Extras.Hold; hold != nil {
		f.hold = hold[i].Microseconds()
	}
	f.extra = len(p.query.Extras.Quantiles) > 0 || p.query.Extras.Deviation || p.query.Extras.Hold != nil
	return f
}

// bucket returns the beginning and end of the bucket that contains the time.
func (p *Plan) bucket(micros int64) (start, end int64) {
	if p.edges == nil {
		start = p.from + floorDiv(micros-p.from, p.step)*p.step
		return start, start + p.step
	}
	i, found := slices.BinarySearch(p.edges, micros)
	if !found {
		i--
	}
	return p.edges[i], p.edges[i+1]
}
