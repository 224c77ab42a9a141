package dnp3

import (
	"fmt"
	"math"

	"voltbus/driver"
	"voltbus/point"
	"voltbus/protocol/dnp3/object"
)

// Encode implements driver.Encoder. Of an analog output whose variation the registry leaves to the device
// only that knows what it can hold.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) {
	t := &c.items[place]
	if !t.writable {
		return v, nil
	}
	x, numeric := v.Number()
	if t.kind == object.KindBinaryOutput {
		if !numeric || x != 0 && x != 1 {
			return v, fmt.Errorf("%q %w", v, errNoState)
		}
		return v, nil
	}
	raw := (x - t.offset) / t.scale
	switch {
	case !numeric, math.IsNaN(raw), math.IsInf(raw, 0):
		return v, fmt.Errorf("%q %w", v, errNoNumber)
	case t.variation == 0:
		return v, nil
	}
	command, err := t.setting(raw, 0)
	if err != nil {
		return v, fmt.Errorf("%q %w", v, err)
	}
	holds := command.Value.Float()
	if command.Variation == object.G41V3 {
		holds = float64(float32(holds))
	}
	return point.FloatOf(holds*t.scale + t.offset), nil
}

var _ driver.Encoder = (*Config)(nil)
