// Package score says how well a resource followed a regulation signal, and at what price: PJM's performance score, the power error,
// comfort that was lost, and switching.
//
// The performance score is that of PJM Manual 12 (Balancing Operations), the section on the regulation performance score (4.4.6 or 4.5.6, by
// edition), with what the manual leaves open decided here and said with the names below.
package score

import (
	"fmt"
	"math"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/regulation/signal"
)

// How the performance score is computed.
const (
	Step      = 10 * time.Second // signal and response are averaged over this
	Window    = 5 * time.Minute  // correlation is that of a window, and the response is shifted by at most this
	Allowance = Step             // of a delay, for the way of the signal to the resource
	Pass      = 0.75             // the composite score that a resource needs to qualify
	flat      = 0.01             // standard deviation of a signal in a window below which its slope is compared instead
	divisor   = 0.01             // mean absolute signal of an hour below which the hour has no score
)

const (
	window  = int(Window / Step)
	shifts  = window + int(Allowance/Step) // the largest shift
	perHour = int(time.Hour / Step)
)

// Performance is a score between 0 and 1, and the parts of it.
type Performance struct {
	Correlation float64 `json:"correlation"` // of the response, shifted by the delay that fits best, with the signal
	Delay       float64 `json:"delay"`       // 1 for a delay within the allowance, 0 for one of five minutes more
	Precision   float64 `json:"precision"`   // 1 minus the mean absolute error through the divisor
	Composite   float64 `json:"composite"`   // the mean of the three
	// Divisor is the mean absolute value of the signal in the hour. The mean itself is about 0 for RegD, so that nothing could be divided by it.
	Divisor float64 `json:"divisor"`
	// Lag is the mean of the delays that fitted best, in seconds.
	Lag float64 `json:"lag_s"`
}

// Passes reports whether the composite score is enough to qualify.
func (p *Performance) Passes() bool { return p.Composite >= Pass }

// Hour is the score of an hour.
type Hour struct {
	Performance

	Begin time.Duration `json:"begin"` // since the begin of the signal
	Steps int           `json:"steps"` // of ten seconds that count
	// Skipped says why the hour has no score: a signal near 0, or too little data. "" for an hour that counts.
	Skipped string `json:"skipped,omitempty"`
}

// Report is the score of a whole signal: the mean of its hours.
type Report struct {
	Performance

	Hours []Hour  `json:"hours"`
	RMS   float64 `json:"power_error_rms"`  // root of the mean squared error, through the capacity
	Mean  float64 `json:"power_error_mean"` // response minus signal
	Peak  float64 `json:"power_error_peak"` // largest absolute error of ten seconds
}

// Judge compares a response with its signal. Both are through the capacity and of one sign: positive is what the grid takes as more power.
// Their times are of one clock; what lies outside of the signal does not count. It fails with fault.Invalid if no hour can be judged.
func Judge(sig, response *signal.Signal) (*Report, error) {
	for what, x := range map[string]*signal.Signal{"signal": sig, "response": response} {
		if x.Step <= 0 || x.Step > Step {
			return nil, fault.E("score.Judge", fault.Invalid, what, fmt.Errorf("the step is %s: the score needs steps of at most %s, such as 2 s", x.Step, Step))
		}
	}
	n := int((sig.Length() + Step - 1) / Step)
	s, r := tens(sig, sig.Begin, n), tens(response, sig.Begin, n)
	out := &Report{}
	counted := 0.0
	for begin := 0; begin < n; begin += perHour {
		h := hour(s, r, begin)
		out.Hours = append(out.Hours, h)
		if h.Skipped == "" {
			counted++
			out.add(&h.Performance)
		}
	}
	if counted == 0 {
		return nil, fault.E("score.Judge", fault.Invalid, "response", fmt.Errorf("no hour can be judged: %s", whyNone(out.Hours)))
	}
	out.scale(1 / counted)
	out.errors(s, r)
	return out, nil
}

func whyNone(hours []Hour) string {
	if len(hours) == 0 {
		return "the signal is empty"
	}
	return hours[0].Skipped
}

func (p *Performance) add(o *Performance) {
	p.Correlation += o.Correlation
	p.Delay += o.Delay
	p.Precision += o.Precision
	p.Composite += o.Composite
	p.Divisor += o.Divisor
	p.Lag += o.Lag
}

func (p *Performance) scale(by float64) {
	p.Correlation *= by
	p.Delay *= by
	p.Precision *= by
	p.Composite *= by
	p.Divisor *= by
	p.Lag *= by
}

// tens averages n times ten seconds of a signal from a time on; without a value there, NaN.
func tens(s *signal.Signal, from time.Duration, n int) []float64 {
	sums, counts := make([]float64, n), make([]float64, n)
	for i, v := range s.Values {
		at := s.Begin + time.Duration(i)*s.Step - from
		if at < 0 || at >= time.Duration(n)*Step || math.IsNaN(v) {
			continue
		}
		sums[at/Step] += v
		counts[at/Step]++
	}
	for i := range sums {
		sums[i] /= counts[i] // 0/0 is NaN
	}
	return sums
}

// hour judges the hour that begins at a step. A window may reach into the next hour.
func hour(s, r []float64, begin int) Hour {
	end := min(begin+perHour, len(s))
	h := Hour{Begin: time.Duration(begin) * Step}
	abs, miss, n := 0.0, 0.0, 0
	for i := begin; i < end; i++ {
		if e := math.Abs(r[i] - s[i]); !math.IsNaN(e) {
			abs, miss, n = abs+math.Abs(s[i]), miss+e, n+1
		}
	}
	h.Steps = n
	if n == 0 {
		h.Skipped = "there is no time with both signal and response"
		return h
	}
	h.Divisor = abs / float64(n)
	if h.Divisor < divisor {
		h.Skipped = fmt.Sprintf("the mean absolute signal is below %g of the capacity", divisor)
		return h
	}
	h.Precision = clip(1 - miss/float64(n)/h.Divisor)
	windows := 0.0
	for i := begin; i < end; i++ {
		if f, ok := best(s, r, i); ok {
			windows++
			h.Correlation, h.Delay, h.Lag = h.Correlation+f.correlation, h.Delay+f.delay, h.Lag+f.lag
		}
	}
	if windows == 0 {
		h.Skipped = fmt.Sprintf("there is no window of %s with all values, and a response of %s more", Window, Window+Allowance)
		return h
	}
	h.Correlation, h.Delay, h.Lag = h.Correlation/windows, h.Delay/windows, h.Lag/windows
	h.Composite = (h.Correlation + h.Delay + h.Precision) / 3
	return h
}

// fit is how a shifted response fits.
type fit struct{ correlation, delay, lag float64 }

// best finds the shift for which correlation and delay score of the window from step i are the largest together; of equals the smallest.
// It reports false if a value is missing.
func best(s, r []float64, i int) (fit, bool) {
	if i+window+shifts > len(s) {
		return fit{}, false
	}
	x := s[i : i+window]
	if hasNaN(x) || hasNaN(r[i:i+window+shifts]) {
		return fit{}, false
	}
	m := momentsOf(x)
	var f fit
	for k := range shifts + 1 {
		c := likeness(x, m, r[i+k:i+k+window])
		late := max(0, float64(k)*Step.Seconds()-Allowance.Seconds())
		d := 1 - late/Window.Seconds()
		if k == 0 || c+d > f.correlation+f.delay {
			f = fit{c, d, float64(k) * Step.Seconds()}
		}
	}
	return f, true
}

func hasNaN(x []float64) bool { return slices.ContainsFunc(x, math.IsNaN) }

type moments struct{ mean, square float64 } // square: the sum of squared deviations

func momentsOf(x []float64) moments {
	var m moments
	for _, v := range x {
		m.mean += v
	}
	m.mean /= float64(len(x))
	for _, v := range x {
		m.square += (v - m.mean) * (v - m.mean)
	}
	return m
}

// likeness is Pearson's correlation of the signal x with the response y, at least 0. Where the signal is flat, it is 1 minus the difference of
// their slopes in capacity per window.
func likeness(x []float64, m moments, y []float64) float64 {
	if m.square < flat*flat*float64(len(x)) {
		return clip(1 - math.Abs(rise(x)-rise(y)))
	}
	o := momentsOf(y)
	if o.square == 0 {
		return 0
	}
	product := 0.0
	for i, v := range x {
		product += (v - m.mean) * (y[i] - o.mean)
	}
	return clip(product / math.Sqrt(m.square*o.square))
}

// rise is the change over the window of the line of least squares.
func rise(x []float64) float64 {
	n := float64(len(x))
	middle, mean := (n-1)/2, momentsOf(x).mean
	var product, square float64
	for i, v := range x {
		d := float64(i) - middle
		product, square = product+d*(v-mean), square+d*d
	}
	return product / square * (n - 1)
}

func clip(v float64) float64 { return min(1, max(0, v)) }

// errors computes the power error over all steps that have both values.
func (r *Report) errors(s, y []float64) {
	sum, squares, n := 0.0, 0.0, 0.0
	for i := range s {
		e := y[i] - s[i]
		if math.IsNaN(e) {
			continue
		}
		sum, squares, n = sum+e, squares+e*e, n+1
		r.Peak = max(r.Peak, math.Abs(e))
	}
	r.RMS, r.Mean = math.Sqrt(squares/n), sum/n
}
