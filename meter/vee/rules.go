package vee

import (
	"errors"
	"fmt"
	"math"
)

// Rules are the parameters of validation for a group of meters. A parameter of 0 leaves its rule out. The rules
// for gaps, interval size, unit and multiplier have none and always apply.
type Rules struct {
	Negative        bool    // refuse values below 0; leave it out for net channels
	SpikeRatio      float64 // (highest − third highest) / third highest; California: 1.8
	SpikeFloor      float64 // peaks up to this value are never spikes
	HighRatio       float64 // of the sum to UsualSum; above 1
	LowRatio        float64 // of the sum to UsualSum; below 1
	StuckCount      int     // so many equal values in a row, not 0; 2 or more
	SumTolerance    float64 // most difference between intervals and register, in the unit of the values
	DemandTolerance float64 // most change between consecutive intervals, in the unit of the values
	MaxRatio        float64 // of a value to HighestValue; 1 or more
}

// Validate returns everything that is wrong with the parameters, joined.
func (r Rules) Validate() error {
	var problems []error
	check := func(name string, v, low, high float64, write string) {
		if v != 0 && !(v >= low && v <= high) {
			problems = append(problems, fmt.Errorf("%s: %v: write %s, or 0 to leave the rule out", name, v, write))
		}
	}
	check("SpikeRatio", r.SpikeRatio, math.SmallestNonzeroFloat64, math.MaxFloat64, "a number above 0, such as 1.8")
	check("SpikeFloor", r.SpikeFloor, 0, math.MaxFloat64, "a number of 0 or more")
	check("HighRatio", r.HighRatio, 1, math.MaxFloat64, "1 or more, such as 3")
	check("LowRatio", r.LowRatio, math.SmallestNonzeroFloat64, 1, "a number above 0 and up to 1, such as 0.3")
	check("StuckCount", float64(r.StuckCount), 2, math.MaxInt32, "2 or more, such as 8")
	check("SumTolerance", r.SumTolerance, math.SmallestNonzeroFloat64, math.MaxFloat64, "a number above 0")
	check("DemandTolerance", r.DemandTolerance, math.SmallestNonzeroFloat64, math.MaxFloat64, "a number above 0")
	check("MaxRatio", r.MaxRatio, 1, math.MaxFloat64, "1 or more, such as 1.5")
	return errors.Join(problems...)
}

// Rule is one step of validation. Apply sets bits in the status of a block, and changes nothing else.
type Rule struct {
	Name  string
	Apply func(r Rules, b *Block)
}

// Standard returns the rules of this package in the order in which they run.
func Standard() []Rule {
	return []Rule{
		{"gap", gap},
		{"interval-size", intervalSize},
		{"unit", unit},
		{"multiplier", multiplier},
		{"negative", negative},
		{"spike", spike},
		{"high-low", highLow},
		{"stuck", stuck},
		{"sum", sum},
		{"demand-tolerance", demandTolerance},
		{"historical-max", historicalMax},
	}
}

func gap(_ Rules, b *Block) {
	for i, v := range b.Values {
		if missing(v) {
			b.Status[i] |= Gap
		}
	}
}

func intervalSize(_ Rules, b *Block) {
	if b.Length != b.WantLength {
		b.set(IntervalSize)
	}
}

func unit(_ Rules, b *Block) {
	if b.Unit != b.WantUnit {
		b.set(Unit)
	}
}

func multiplier(_ Rules, b *Block) {
	if b.Multiplier != b.WantMultiplier {
		b.set(Multiplier)
	}
}

func negative(r Rules, b *Block) {
	if !r.Negative {
		return
	}
	for i, v := range b.Values {
		if v < 0 && !missing(v) {
			b.Status[i] |= Negative
		}
	}
}

// spike compares the highest with the third highest value of the block.
func spike(r Rules, b *Block) {
	if r.SpikeRatio <= 0 {
		return
	}
	at, count := -1, 0
	first, second, third := math.Inf(-1), math.Inf(-1), math.Inf(-1)
	for i, v := range b.Values {
		if missing(v) {
			continue
		}
		count++
		switch {
		case v > first:
			first, second, third, at = v, first, second, i
		case v > second:
			second, third = v, second
		case v > third:
			third = v
		}
	}
	if count < 3 || first <= r.SpikeFloor || first <= 0 {
		return
	}
	if third <= 0 || (first-third)/third > r.SpikeRatio {
		b.Status[at] |= Spike
	}
}

func highLow(r Rules, b *Block) {
	total, gaps := total(b.Values)
	if missing(b.UsualSum) || b.UsualSum <= 0 || gaps > 0 {
		return
	}
	if r.HighRatio > 0 && total > r.HighRatio*b.UsualSum {
		b.set(High)
	}
	if r.LowRatio > 0 && total < r.LowRatio*b.UsualSum {
		b.set(Low)
	}
}

func stuck(r Rules, b *Block) {
	if r.StuckCount < 2 {
		return
	}
	first := 0
	for i := 1; i <= len(b.Values); i++ {
		if i < len(b.Values) && b.Values[i] == b.Values[first] {
			continue
		}
		if v := b.Values[first]; i-first >= r.StuckCount && v != 0 && !missing(v) {
			for j := first; j < i; j++ {
				b.Status[j] |= Stuck
			}
		}
		first = i
	}
}

// sum needs all intervals between two reads of the register: with a gap, the difference is what is missing.
func sum(r Rules, b *Block) {
	if r.SumTolerance <= 0 {
		return
	}
	for _, a := range b.Advances {
		if a.First < 0 || a.Last >= len(b.Values) || missing(a.Quantity) {
			continue
		}
		total, gaps := total(b.Values[a.First : a.Last+1])
		if gaps > 0 || math.Abs(total-a.Quantity) <= r.SumTolerance+rounding*math.Abs(total) {
			continue
		}
		for i := a.First; i <= a.Last; i++ {
			b.Status[i] |= Sum
		}
	}
}

// rounding is what the sum of a day of decimals may lack in binary, for each 1 of it.
const rounding = 1e-12

func demandTolerance(r Rules, b *Block) {
	if r.DemandTolerance <= 0 {
		return
	}
	last := math.NaN() // of the day before
	if n := len(b.Before); n > 0 {
		last = b.Before[n-1]
	}
	for i, v := range b.Values {
		if !missing(v) && !missing(last) && math.Abs(v-last) > r.DemandTolerance {
			b.Status[i] |= DemandTolerance
		}
		last = v
	}
}

func historicalMax(r Rules, b *Block) {
	if r.MaxRatio <= 0 || missing(b.HighestValue) || b.HighestValue <= 0 {
		return
	}
	limit := r.MaxRatio * b.HighestValue
	for i, v := range b.Values {
		if v > limit && !missing(v) {
			b.Status[i] |= HistoricalMax
		}
	}
}
