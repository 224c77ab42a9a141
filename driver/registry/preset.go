package registry

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"voltbus/point"
)

// PresetText is what an entry says of commands to its point; "" for nothing.
type PresetText struct{ Default, Min, Max string }

// Presets are what commands to a point go back to, None for nothing, and their bounds, nil for none.
type Presets struct {
	Default  point.Value
	Min, Max *float64
}

// Read reads the presets of a point; only one that may be written has any. Parse reads a value of the point, and fail is told of a field
// and what is wrong with it, or nil.
func (t PresetText) Read(writable bool, parse func(string) (point.Value, error), fail func(field string, err error)) (p Presets) {
	if t != (PresetText{}) && !writable {
		fail("default", errors.New("and min and max are for points that may be written; leave them out, or write true for writable"))
		return Presets{}
	}
	var err error
	p.Min, err = bound(t.Min)
	fail("min", err)
	p.Max, err = bound(t.Max)
	fail("max", err)
	if t.Default != "" {
		p.Default, err = parse(t.Default)
		fail("default", err)
	}
	return p
}

// bound reads one end of a range; nil for "".
func bound(text string) (*float64, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // none is given
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, fmt.Errorf("%q is no number; write one such as 0.1", text)
	}
	return &x, nil
}
