package vee

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// LinearLimit is the longest gap that is filled by a straight line, as California's standard allows; longer ones
// take the shape of like days or of a class of customers.
const LinearLimit = 2 * time.Hour

// Method says how an interval was estimated.
type Method uint8

// The methods.
const (
	Measured  Method = iota // not estimated
	Linear                  // a straight line between the neighbours
	LikeDay                 // the mean of days of the same type in the weeks before
	Profile                 // the shape of a class of customers
	Unfilled                // nothing is known to estimate it from: the value is NaN
	Scaled    Method = 0x80 // added to the others: scaled so that the intervals add up to their register
	methodSet        = Scaled - 1
)

// String returns the name, such as "profile,scaled".
func (m Method) String() string {
	name := [...]string{"measured", "linear", "like-day", "profile", "unfilled"}[min(m&methodSet, Unfilled)]
	if m&Scaled != 0 {
		name += ",scaled"
	}
	return name
}

// Past is what long gaps are estimated from. Each slice has one value for each interval of the block, NaN where it
// has none.
type Past struct {
	LikeDays [][]float64 // of days of the same type in the weeks before
	Class    []float64   // of the class of customers; nil without one. Only its shape counts where ClassTotal is not NaN
	// ClassTotal is what the customer uses on such a day: the class is scaled to it. NaN when unknown.
	ClassTotal float64
}

// Estimates is what Estimate found, one element for each interval of the block.
type Estimates struct {
	Values  []float64
	Methods []Method
	// AskedPast says that Past was asked for, Edge that a gap lies at the first or last interval of the block.
	AskedPast, EdgeBefore, EdgeAfter bool
}

// Estimate estimates each interval with a bit of doubt in its status, gap by gap; the block does not change. A gap of up
// to LinearLimit between two good values, of which one may be of the neighbours' days, becomes a straight line. A longer
// one takes the mean of the like days that have all its intervals, or else the class; past is called once, when the first
// such gap is found, and may be nil. What cannot be estimated is Unfilled, and hinders no other gap.
//
// Between two reads of the register the estimates are scaled so that the intervals add up to its advance, if that is no
// less than what is good and no interval between them is unfilled.
func Estimate(b *Block, doubt Status, past func() Past) (Estimates, error) {
	if len(b.Status) != len(b.Values) {
		return Estimates{}, fmt.Errorf("block: %d values and %d statuses: give as many", len(b.Values), len(b.Status))
	}
	e := estimator{b: b, ask: past, out: Estimates{Values: make([]float64, len(b.Values)), Methods: make([]Method, len(b.Values))}}
	copy(e.out.Values, b.Values)
	bad := func(i int) bool { return b.Status[i]&doubt != 0 || missing(b.Values[i]) }
	for first := 0; first < len(b.Values); first++ {
		if !bad(first) {
			continue
		}
		last := first
		for last+1 < len(b.Values) && bad(last+1) {
			last++
		}
		e.fill(first, last)
		first = last
	}
	for _, a := range b.Advances {
		scale(e.out.Values, e.out.Methods, a)
	}
	return e.out, nil
}

type estimator struct {
	b    *Block
	ask  func() Past
	past Past
	out  Estimates
}

// fill estimates the gap from first to last.
func (e *estimator) fill(first, last int) {
	n := len(e.b.Values)
	var before, after float64
	steps := last - first + 2 // from the good value before the gap to that behind it
	if first > 0 {
		before = e.out.Values[first-1]
	} else {
		e.out.EdgeBefore = true
		var more int
		before, more = nearest(e.b.Before, len(e.b.Before)-1, -1)
		steps += more
	}
	lead := steps - (last - first + 2) // intervals of the gap that lie before the block
	if last+1 < n {
		after = e.b.Values[last+1]
	} else {
		e.out.EdgeAfter = true
		var more int
		after, more = nearest(e.b.After, 0, 1)
		steps += more
	}
	if !missing(before) && !missing(after) && e.b.WantLength > 0 && time.Duration(steps-1)*e.b.WantLength <= LinearLimit {
		for i := first; i <= last; i++ {
			part := float64(lead+i-first+1) / float64(steps)
			e.out.Values[i], e.out.Methods[i] = before+(after-before)*part, Linear
		}
		return
	}
	if e.like(first, last) || e.class(first, last) {
		return
	}
	for i := first; i <= last; i++ {
		e.out.Values[i], e.out.Methods[i] = math.NaN(), Unfilled
	}
}

// nearest returns the first good value from a place on, and how many are missing before it; NaN if all are.
func nearest(values []float64, from, step int) (float64, int) {
	for i, n := from, 0; i >= 0 && i < len(values); i, n = i+step, n+1 {
		if !missing(values[i]) {
			return values[i], n
		}
	}
	return math.NaN(), 0
}

// history asks for the past once.
func (e *estimator) history() *Past {
	if !e.out.AskedPast && e.ask != nil {
		e.past = e.ask()
	}
	e.out.AskedPast = true
	return &e.past
}

// like takes the mean of the like days that have all intervals of the gap.
func (e *estimator) like(first, last int) bool {
	count := 0
	sum := make([]float64, last-first+1)
	for _, day := range e.history().LikeDays {
		if !whole(day, len(e.b.Values), first, last) {
			continue
		}
		count++
		for i := range sum {
			sum[i] += day[first+i]
		}
	}
	if count == 0 {
		return false
	}
	for i, v := range sum {
		e.out.Values[first+i], e.out.Methods[first+i] = v/float64(count), LikeDay
	}
	return true
}

// class takes the profile of the class, as large as the customer's days are.
func (e *estimator) class(first, last int) bool {
	p := e.history()
	if !whole(p.Class, len(e.b.Values), first, last) {
		return false
	}
	factor := 1.0
	if !missing(p.ClassTotal) && p.ClassTotal >= 0 {
		total := 0.0
		for _, v := range p.Class {
			if !missing(v) {
				total += v
			}
		}
		if total > 0 {
			factor = p.ClassTotal / total
		}
	}
	for i := first; i <= last; i++ {
		e.out.Values[i], e.out.Methods[i] = p.Class[i]*factor, Profile
	}
	return true
}

// whole reports whether a profile has the intervals of a gap.
func whole(profile []float64, n, first, last int) bool {
	return len(profile) == n && !slices.ContainsFunc(profile[first:last+1], missing)
}

// scale makes intervals add up to the advance of their register. Estimates that are all 0 share the rest evenly.
func scale(values []float64, methods []Method, a Advance) {
	if missing(a.Quantity) || a.First < 0 || a.Last >= len(values) {
		return
	}
	var good, estimated float64
	count := 0
	for i := a.First; i <= a.Last; i++ {
		switch methods[i] {
		case Unfilled:
			return
		case Measured:
			good += values[i]
		default:
			estimated += values[i]
			count++
		}
	}
	rest := a.Quantity - good
	if rest < 0 && -rest <= 1e-9*good { // what binary arithmetic leaves
		rest = 0
	}
	if count == 0 || rest < 0 || estimated < 0 {
		return
	}
	for i := a.First; i <= a.Last; i++ {
		if methods[i] == Measured {
			continue
		}
		if estimated > 0 {
			values[i] *= rest / estimated
		} else {
			values[i] = rest / float64(count)
		}
		methods[i] |= Scaled
	}
}
