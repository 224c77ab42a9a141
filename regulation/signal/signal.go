// Package signal has regulation signals: what a grid operator asks of its resources each two seconds. It reads published files and
// generates signals like PJM's RegD from a seed.
package signal

import (
	"math"
	"time"
)

// Signal is a course of values at equal steps. Values of a regulation signal lie between −1 and +1; positive: the grid needs more
// power, so that loads consume less. A step for which the file has no value is NaN.
type Signal struct {
	Begin  time.Duration // of the first step, since the zero of the file's clock
	Step   time.Duration
	Values []float64
}

// At returns the value that holds at a time since the begin: that of the step which contains the time, or the last one known before it.
// Before the begin, and as long as nothing is known, it is 0; after the end the last value holds.
func (s *Signal) At(t time.Duration) float64 {
	if t < 0 || len(s.Values) == 0 {
		return 0
	}
	i := min(int64(t/s.Step), int64(len(s.Values)-1))
	for ; i >= 0; i-- {
		if v := s.Values[i]; !math.IsNaN(v) {
			return v
		}
	}
	return 0
}

// Length returns the time that the signal covers.
func (s *Signal) Length() time.Duration { return time.Duration(len(s.Values)) * s.Step }

// Statistics describe a signal.
type Statistics struct {
	Known   int     // steps with a value
	Missing int     // steps without
	Mean    float64 // of the values, 0 for an energy-neutral signal
	MeanAbs float64 // of their absolute values: the divisor of a score
	Energy  float64 // h: the integral from begin to end, for a capacity of 1
	Swing   float64 // h: the largest minus the smallest integral from the begin: the storage that the signal needs
	Mileage float64 // per hour: the sum of absolute changes
	Ramp    float64 // the largest change in one step
	Limited float64 // share of the steps at −1 or +1
}

// Statistics computes them. Changes over missing steps count neither as mileage nor as ramp.
func (s *Signal) Statistics() Statistics {
	var st Statistics
	var sum, abs, mileage, low, high float64
	hours := s.Step.Hours()
	limited := 0
	before := math.NaN()
	for _, v := range s.Values {
		if math.IsNaN(v) {
			st.Missing++
			before = v
			continue
		}
		st.Known++
		sum += v
		abs += math.Abs(v)
		low, high = min(low, sum), max(high, sum)
		if math.Abs(v) >= 1 {
			limited++
		}
		if !math.IsNaN(before) {
			mileage += math.Abs(v - before)
			st.Ramp = max(st.Ramp, math.Abs(v-before))
		}
		before = v
	}
	if st.Known == 0 {
		return st
	}
	n := float64(st.Known)
	st.Mean, st.MeanAbs, st.Limited = sum/n, abs/n, float64(limited)/n
	st.Energy, st.Swing = sum*hours, (high-low)*hours
	st.Mileage = mileage / (n * hours)
	return st
}
