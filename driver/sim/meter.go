package sim

import (
	"math"
	"time"

	"voltbus/point"
)

const (
	baseLoad = 12.0 // kW
	dayLoad  = 40.0 // kW more at the peak of the day
	peakHour = 13.0
)

// meter is an electricity meter of a building. Power is positive when the building imports.
type meter struct {
	seed  uint64
	start time.Time
	relay setting
}

// newMeter returns the model meter.
func newMeter(c *Config) *model {
	m := &meter{seed: scramble(uint64(c.Seed) + 200), start: c.Start, relay: setting{value: 1, low: 0, high: 1}}
	return &model{fields: []field{
		measured("power", "kW", "Active power, positive: import from the grid", m.power),
		measured("energy", "kWh", "Energy imported since the meter was built", m.energy),
		measured("voltage", "V", "Voltage between a phase and neutral", m.voltage),
		measured("current", "A", "Current of a phase", func(t time.Time) float64 {
			return 1000 * m.power(t) / (3 * m.voltage(t) * m.factor(t))
		}),
		measured("power_factor", "1", "Active by apparent power", m.factor),
		measured("frequency", "Hz", "Frequency of the grid", func(t time.Time) float64 { return 50 + 0.03*noise(m.seed+2, t, 20*time.Second) }),
		{
			name: "pulses", unit: "Wh", doc: "Energy as the pulse output counts it", kind: point.Int,
			value: func(t time.Time) point.Value { return point.IntOf(int64(1000 * m.energy(t))) },
		},
		word("tariff", "The tariff that counts now: day or night", tariff),
		toggle("relay", "Connects the loads that may be shed", &m.relay),
	}}
}

// power is the active power in kW: a daily profile with a little noise.
func (m *meter) power(t time.Time) float64 {
	return (baseLoad + dayLoad*(1+swing(t, peakHour))/2) * (1 + 0.03*noise(m.seed, t, time.Minute))
}

// energy is the integral of the daily profile since the start, in kWh; the noise has zero mean and is left
// out, so that the register never decreases.
func (m *meter) energy(t time.Time) float64 {
	hours := t.Sub(m.start).Hours()
	if hours < 0 {
		return 0
	}
	phase := func(t time.Time) float64 { return math.Sin(2 * math.Pi * (day(t) - peakHour/24)) }
	return (baseLoad+dayLoad/2)*hours + dayLoad/2*(phase(t)-phase(m.start))*24/(2*math.Pi)
}

func (m *meter) voltage(t time.Time) float64 {
	return 231 - 2*swing(t, peakHour) + noise(m.seed+1, t, time.Minute)
}

func (m *meter) factor(t time.Time) float64 { return 0.94 + 0.03*noise(m.seed+3, t, 30*time.Minute) }

func tariff(t time.Time) string {
	if h := t.UTC().Hour(); h >= 6 && h < 22 {
		return "day"
	}
	return "night"
}
