package greenbutton

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"voltbus/meter"
)

// Target is the channel of a registered meter that readings of a file belong to.
type Target struct {
	Channel    int
	Exponent   int           // value in the unit of the channel = value in the file × 10^Exponent
	Multiplier float64       // of the channel's transformers: a file has quantities, a channel readings
	Interval   time.Duration // of the channel; 0 for a register
}

// Fit finds the channel of a meter for readings of a type with a length of intervals: the one with just this type, or else the only one that
// agrees in what is measured, and how: the accumulation, the direction of flow, the commodity, the kind, the unit, the tariff's period and the
// length. What a file leaves out, its power of ten, and what it says of phases, currency and the like decides nothing.
func Fit(m *meter.Meter, t meter.ReadingType, length time.Duration) (Target, error) {
	var found []*meter.Channel
	for i := range m.Channels {
		c := &m.Channels[i]
		if c.ReadingType == t {
			return target(c, t), nil
		}
		if agrees(c, t, length) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 0:
		return Target{}, fmt.Errorf("the meter has no channel for reading type %s with intervals of %s: register one", t, length)
	case 1:
		return target(found[0], t), nil
	}
	numbers := make([]string, len(found))
	for i, c := range found {
		numbers[i] = strconv.Itoa(c.Number)
	}
	return Target{}, fmt.Errorf("channels %s of the meter fit reading type %s: write that of one of them into the file", strings.Join(numbers, ", "), t)
}

func target(c *meter.Channel, t meter.ReadingType) Target {
	return Target{Channel: c.Number, Exponent: int(t[meter.PowerOfTen]) - int(c.ReadingType[meter.PowerOfTen]), Multiplier: c.Multiplier, Interval: c.Interval}
}

// reading returns the reading of a quantity in a file, rounded once if the multiplier is whole.
func (t *Target) reading(quantity float64) float64 {
	if t.Exponent < 0 {
		return quantity / (math.Pow10(-t.Exponent) * t.Multiplier)
	}
	return quantity * math.Pow10(t.Exponent) / t.Multiplier
}

// deciding returns the parts of a reading type that say what is measured, and how.
func deciding() [8]int {
	return [...]int{
		meter.Accumulation, meter.FlowDirection, meter.CommodityKind, meter.MeasurementKind, meter.Unit, meter.TOU, meter.CPP, meter.ConsumptionTier,
	}
}

func agrees(c *meter.Channel, t meter.ReadingType, length time.Duration) bool {
	if length > 0 && length != c.Interval {
		return false
	}
	if length == 0 && c.Interval > 0 && t[meter.Accumulation] == meter.AccumulationBulk {
		return false
	}
	for _, part := range deciding() {
		if t[part] != 0 && t[part] != c.ReadingType[part] {
			return false
		}
	}
	return true
}
