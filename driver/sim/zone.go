package sim

import "time"

const (
	// step is the fixed integration step, small compared with every time constant here.
	step = 30 * time.Second
	// memory is how far back a newly opened model starts: earlier influences have faded by then, so that
	// every session arrives at the same state.
	memory = 36 * time.Hour
)

// integral is a state integrated in fixed steps on a time grid, so that it depends on the time and the set
// points, not on when it is read.
type integral struct {
	value float64
	last  time.Time // on the grid; zero before the first reading
	slope float64   // at last, per second
}

// advance integrates up to the grid point at or before t. A clock that goes back has no effect.
func (s *integral) advance(t time.Time, slope func(value float64, t time.Time) float64) {
	if s.last.IsZero() || t.Sub(s.last) > memory {
		s.last = t.Add(-memory).Truncate(step)
		s.slope = slope(s.value, s.last)
	}
	for next := s.last.Add(step); !next.After(t); next = next.Add(step) {
		s.value += s.slope * step.Seconds()
		s.last = next
		s.slope = slope(s.value, next)
	}
}

// at is the value at a time within a step after the last grid point.
func (s *integral) at(t time.Time) float64 {
	return s.value + s.slope*clamp(t.Sub(s.last).Seconds(), 0, step.Seconds())
}

// zone is a room: a first-order thermal mass with a radiator, people and sun.
type zone struct {
	weather  weather
	seed     uint64
	temp     integral // degC
	setpoint setting  // degC, when occupied
	setback  setting  // K lower when unoccupied
}

// newZone returns the model zone.
func newZone(c *Config) *model {
	z := &zone{
		weather: c.weather(), seed: scramble(uint64(c.Seed)), temp: integral{value: 20},
		setpoint: setting{value: 21, low: 10, high: 30}, setback: setting{value: 4, low: 0, high: 10},
	}
	return &model{
		advance: func(t time.Time) { z.temp.advance(t, z.slope) },
		fields: []field{
			measured("temp", "degC", "Room temperature", z.temp.at),
			setpoint("setpoint", "degC", "Wanted temperature while occupied", &z.setpoint),
			setpoint("setback", "K", "How much lower it may be while not occupied", &z.setback),
			measured("active_setpoint", "degC", "Wanted temperature now", z.wanted),
			measured("heating_valve", "%", "Opening of the radiator's valve", func(t time.Time) float64 { return 100 * z.valve(z.temp.at(t), t) }),
			measured("co2", "ppm", "Carbon dioxide in the air", z.co2),
			measured("humidity", "%", "Relative humidity", func(t time.Time) float64 { return 42 + 8*noise(z.seed+1, t, 3*time.Hour) }),
			state("occupied", "Somebody is there", worktime),
			word("mode", "What the controller does: comfort or setback", z.mode),
		},
	}
}

// slope is the change of the room's temperature in K/s.
func (z *zone) slope(temp float64, t time.Time) float64 {
	const (
		loss   = 1.0 / (14 * 3600) // 1/s: loss to the outside
		heat   = 4.0 / 3600        // K/s of the radiator, fully open
		people = 0.5 / 3600        // K/s
		sun    = 0.6 / 3600        // K/s at 1000 W/m²
	)
	slope := loss*(z.weather.temperature(t)-temp) + heat*z.valve(temp, t) + sun*z.weather.solar(t)/1000
	if worktime(t) {
		slope += people * (0.7 + 0.3*noise(z.seed, t, 40*time.Minute))
	}
	return slope
}

// wanted is the current set point in degC.
func (z *zone) wanted(t time.Time) float64 {
	if worktime(t.Add(time.Hour)) { // it heats up before people arrive
		return z.setpoint.value
	}
	return z.setpoint.value - z.setback.value
}

// valve is a proportional controller's opening, 0 to 1.
func (z *zone) valve(temp float64, t time.Time) float64 {
	return clamp((z.wanted(t)-temp)*0.8+0.2, 0, 1)
}

func (z *zone) co2(t time.Time) float64 {
	base := 430 + 15*noise(z.seed+2, t, time.Hour)
	if worktime(t) {
		base += 380 + 150*noise(z.seed+3, t, 50*time.Minute)
	}
	return base
}

func (z *zone) mode(t time.Time) string {
	if z.wanted(t) < z.setpoint.value {
		return "setback"
	}
	return "comfort"
}
