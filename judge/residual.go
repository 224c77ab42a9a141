package judge

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"voltbus/point"
)

// Fit is what a model knows of the residuals of a point, beside their mean.
type Fit struct {
	Readings int     `json:"readings"`         // that it learnt from
	Variance float64 `json:"variance"`         // of the residuals
	Failed   int     `json:"failed,omitempty"` // readings that failed since the last one that passed
}

// term is a point that a value depends on.
type term struct {
	other  *trace
	factor float64
}

// terms finds the points of a model; false if a point would depend on itself, or there is no such point.
func (j *Judge) terms(c *check, path point.Path) bool {
	for _, name := range slices.Sorted(maps.Keys(c.rule.Model)) {
		other := partnerOf(name, path)
		if other == path || other.Validate() != nil {
			return false
		}
		c.terms = append(c.terms, term{j.partner(other), c.rule.Model[name]})
	}
	return true
}

// residual returns how far a number is from what the model expects; false if a point of the model has no reading that is near in time.
func (c *check) residual(time int64, n float64) (r float64, known bool) {
	for _, t := range c.terms {
		if !t.other.known || math.Abs(float64(time-t.other.time)) > float64(c.rule.Window.Microseconds()) {
			return 0, false
		}
		n -= t.factor * t.other.value
	}
	return n, finite(n)
}

// fits reports whether the residual of a number is a usual one, and learns from those that are.
func (c *check) fits(time int64, n float64) bool {
	r, known := c.residual(time, n)
	if !known {
		return finite(n)
	}
	f := &c.fit
	most := c.rule.Readings
	if d := math.Abs(r - c.last.value); f.Readings >= most && d > c.allowed() {
		if f.Failed++; f.Failed < most {
			return false
		}
		*f, c.last = Fit{}, trace{} // a new normal
	}
	f.Failed = 0
	f.Readings = min(f.Readings+1, most)
	// The mean and the variance of all residuals, as long as they are few, and exponentially weighted ones afterwards.
	weight := 1 / float64(f.Readings)
	if f.Readings == most {
		weight = 2 / float64(most+1)
	}
	d := r - c.last.value
	f.Variance = (1 - weight) * (f.Variance + weight*d*d)
	c.last = trace{time, c.last.value + weight*d, true}
	return true
}

// allowed is how far a residual may be from the mean.
func (c *check) allowed() float64 {
	return max(c.rule.Sigmas*math.Sqrt(c.fit.Variance), c.rule.Tolerance)
}

// unexpected says why a number does not fit.
func (c *check) unexpected(time int64, n float64) string {
	r, known := c.residual(time, n)
	if !known {
		return fmt.Sprintf("%v is not a number that a model can expect", n)
	}
	return fmt.Sprintf("%v is %.4g from the %.4g that the model expects; at most %.4g is usual", n, math.Abs(r-c.last.value), n-r+c.last.value, c.allowed())
}
