package vee

import (
	"fmt"
	"time"
)

// LinearLimit is the longest gap that is filled by a straight line, as California's standard allows; longer ones
// take the shape of a profile.
const LinearLimit = 2 * time.Hour

// Method says how an interval was estimated.
type Method uint8

// The methods.
const (
	Measured  Method = iota // not estimated
	Linear                  // a straight line between the neighbours
	Profile                 // the shape of like days or of a class of customers
	Scaled    Method = 0x80 // added to the others: scaled so that the block adds up to its register
	methodSet        = Scaled - 1
)

// String returns the name, such as "profile,scaled".
func (m Method) String() string {
	name := [...]string{"measured", "linear", "profile"}[min(m&methodSet, Profile)]
	if m&Scaled != 0 {
		name += ",scaled"
	}
	return name
}

// Estimate returns a copy of the block's values in which each interval with a bit of doubt in its status is
// estimated, and how each was. The block does not change. Gaps up to LinearLimit between two good values of the
// block become a straight line; all others take their values from profile, one for each interval, such as the
// mean of like days or the profile of a class. If the advance of the register is known and no less than what is
// good, the estimates are scaled so that the block adds up to it.
//
// It returns an error, and no values, if a gap needs a profile and there is none.
func Estimate(b *Block, doubt Status, profile []float64) ([]float64, []Method, error) {
	if len(b.Status) != len(b.Values) {
		return nil, nil, fmt.Errorf("block: %d values and %d statuses: give as many", len(b.Values), len(b.Status))
	}
	values, methods := make([]float64, len(b.Values)), make([]Method, len(b.Values))
	copy(values, b.Values)
	bad := func(i int) bool { return b.Status[i]&doubt != 0 || missing(b.Values[i]) }
	for first := 0; first < len(values); first++ {
		if !bad(first) {
			continue
		}
		last := first
		for last+1 < len(values) && bad(last+1) {
			last++
		}
		if err := fill(values, methods, b.WantLength, span{first, last}, profile); err != nil {
			return nil, nil, err
		}
		first = last
	}
	scale(values, methods, b.RegisterAdvance)
	return values, methods, nil
}

// span is a gap: from first to last.
type span struct{ first, last int }

// fill estimates one gap.
func fill(values []float64, methods []Method, length time.Duration, s span, profile []float64) error {
	n := s.last - s.first + 1
	inside := s.first > 0 && s.last+1 < len(values)
	if inside && length > 0 && time.Duration(n)*length <= LinearLimit {
		from, to := values[s.first-1], values[s.last+1]
		for i := s.first; i <= s.last; i++ {
			part := float64(i-s.first+1) / float64(n+1)
			values[i], methods[i] = from+(to-from)*part, Linear
		}
		return nil
	}
	if len(profile) != len(values) {
		return fmt.Errorf("intervals %d to %d: need a profile of %d values, not %d: give the mean of like days or that of the class", s.first, s.last, len(values), len(profile))
	}
	for i := s.first; i <= s.last; i++ {
		if missing(profile[i]) {
			return fmt.Errorf("profile: interval %d: %v: give a finite number", i, profile[i])
		}
		values[i], methods[i] = profile[i], Profile
	}
	return nil
}

// scale makes the block add up to the advance of its register. Estimates that are all 0 share the rest evenly.
func scale(values []float64, methods []Method, advance float64) {
	if missing(advance) {
		return
	}
	var good, estimated float64
	count := 0
	for i, v := range values {
		if methods[i] == Measured {
			good += v
			continue
		}
		estimated += v
		count++
	}
	rest := advance - good
	if rest < 0 && -rest <= 1e-9*good { // what binary arithmetic leaves
		rest = 0
	}
	if count == 0 || rest < 0 || estimated < 0 {
		return
	}
	for i := range values {
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
