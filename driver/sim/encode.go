package sim

import (
	"fmt"
	"math"

	"voltbus/driver"
	"voltbus/point"
)

// Encode implements driver.Encoder.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) {
	if c.Model == "random" {
		return v, nil
	}
	return newModel(&line{}, c).fields[place].take(v)
}

// take returns what a set point reports after accepting a value.
func (f *field) take(v point.Value) (point.Value, error) {
	if f.set == nil {
		return v, nil
	}
	number, ok := v.Number()
	if !ok || math.IsNaN(number) || number < f.set.low || number > f.set.high {
		return v, fmt.Errorf("%q does not fit; write a number from %g to %g", v, f.set.low, f.set.high)
	}
	return v, nil
}

var _ driver.Encoder = (*Config)(nil)
