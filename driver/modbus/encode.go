package modbus

import (
	"voltbus/driver"
	"voltbus/point"
)

// Encode implements driver.Encoder. For a point scaled by another register, only the device knows what it can
// hold.
func (c *Config) Encode(place int, v point.Value) (point.Value, error) {
	r := &c.registers[place]
	if !r.writable || r.change.other != "" {
		return v, nil
	}
	words, err := r.encode(v, make([]uint16, r.layout.Words), 0)
	if err != nil {
		return v, err
	}
	if held, ok := r.decode(words, 0); ok {
		return held, nil
	}
	return v, nil
}

var _ driver.Encoder = (*Config)(nil)
