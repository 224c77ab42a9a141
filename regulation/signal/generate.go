package signal

import (
	"math"
	"math/rand/v2"
	"time"
)

// Step is the step of PJM's regulation signals.
const Step = 2 * time.Second

// The generated signal is noise between low-pass filters: what changes faster than quick is smoothed twice, what lasts longer than slow is
// taken out, as RegD carries the fast part of the control error only. The rest is scaled so that it reaches its limits now and then.
const (
	quick  = time.Minute
	slow   = 15 * time.Minute
	spread = 0.6 // standard deviation before the limits
	ramp   = 0.1 // largest change in a step
	recall = 4   // 1/h: energy returns to 0 with a time constant of 15 minutes
)

// Generate makes a signal like PJM's RegD of a length: steps of two seconds, values between −1 and +1, changes of at most 0.1 a step,
// and energy that returns to about zero within an hour. The same seed gives the same signal. It is no record of a grid.
func Generate(seed uint64, length time.Duration) *Signal {
	n := max(0, int(length/Step))
	s := &Signal{Step: Step, Values: make([]float64, n)}
	random := rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))
	a, b := 1-math.Exp(-Step.Seconds()/quick.Seconds()), 1-math.Exp(-Step.Seconds()/slow.Seconds())
	// The variance of white noise after two equal first-order filters with the pole p is a⁴·(1+p²)/(1−p²)³; what the slow filter takes away of
	// it is small.
	p := 1 - a
	q := 1 - p*p
	scale := spread / (a * a) * math.Sqrt(q*q*q/(1+p*p))
	var first, fast, base, energy, v float64
	for i := range s.Values {
		first += a * (random.NormFloat64()*scale - first)
		fast += a * (first - fast)
		base += b * (fast - base)
		wish := fast - base - recall*energy
		v += min(ramp, max(-ramp, min(1, max(-1, wish))-v))
		energy += v * Step.Hours()
		s.Values[i] = v
	}
	return s
}
