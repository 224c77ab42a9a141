package sim

import "time"

// moves is the value of stuck for a blade that is not stuck.
const moves = -1

// ahu is an air handling unit: it mixes outdoor and return air and heats or cools the mix.
type ahu struct {
	weather  weather
	seed     uint64
	supply   integral // degC
	setpoint setting  // degC
	enable   setting  // 0 or 1
	outdoor  setting  // %, minimum share of outdoor air
	stuck    setting  // %, position at which the damper blade sticks; moves if it does not
}

// newAHU returns the model ahu.
func newAHU(c *Config) *model {
	a := &ahu{
		weather: c.weather(), seed: scramble(uint64(c.Seed) + 100), supply: integral{value: 18},
		setpoint: setting{value: 18, low: 12, high: 30}, enable: setting{value: 1, low: 0, high: 1},
		outdoor: setting{value: 20, low: 0, high: 100}, stuck: setting{value: c.StuckDamper, low: moves, high: 100},
	}
	percent := func(f func(time.Time) float64) func(time.Time) float64 {
		return func(t time.Time) float64 { return 100 * f(t) }
	}
	return &model{
		advance: func(t time.Time) { a.supply.advance(t, a.slope) },
		fields: []field{
			measured("supply_temp", "degC", "Air to the rooms", a.supply.at),
			measured("return_temp", "degC", "Air from the rooms", a.back),
			measured("mixed_temp", "degC", "Mix of outdoor and return air", a.mixed),
			measured("outdoor_temp", "degC", "Outdoor air", a.weather.temperature),
			setpoint("supply_setpoint", "degC", "Wanted temperature of the supply air", &a.setpoint),
			setpoint("min_outdoor_air", "%", "Least share of outdoor air", &a.outdoor),
			toggle("enable", "Lets the fan run", &a.enable),
			state("fan_running", "The fan turns", a.running),
			measured("fan_speed", "%", "Speed of the supply fan", percent(a.fan)),
			measured("damper", "%", "Signal to the outdoor air damper, its wanted opening", percent(a.damper)),
			setpoint("stuck_damper", "%", "A fault to try: where the damper's blade sticks whatever its signal; below 0 it moves", &a.stuck),
			measured("heating_valve", "%", "Opening of the heating coil's valve", percent(a.heating)),
			measured("cooling_valve", "%", "Opening of the cooling coil's valve", percent(a.cooling)),
			measured("filter_pressure", "Pa", "Pressure drop over the filter", func(t time.Time) float64 {
				return a.fan(t) * a.fan(t) * (180 + 10*noise(a.seed+2, t, 10*time.Minute))
			}),
			word("mode", "What it does: off, heating, cooling or free cooling", a.mode),
		},
	}
}

// slope moves the supply air towards the coils' target, with a time constant of 4 min.
func (a *ahu) slope(supply float64, t time.Time) float64 {
	target := a.mixed(t)
	if a.running(t) {
		target += clamp(a.setpoint.value-target, -12, 25)
	}
	return (target + 0.3*noise(a.seed, t, 3*time.Minute) - supply) / 240
}

func (a *ahu) running(time.Time) bool { return a.enable.value >= 0.5 }

// fan is the fan speed, 0 to 1: full by day, reduced at night.
func (a *ahu) fan(t time.Time) float64 {
	switch {
	case !a.running(t):
		return 0
	case worktime(t):
		return 0.8 + 0.05*noise(a.seed+1, t, 20*time.Minute)
	}
	return 0.35
}

// back is the return air temperature in degC.
func (a *ahu) back(t time.Time) float64 {
	return 22 + 0.8*swing(t, 16) + 0.2*noise(a.seed+3, t, 15*time.Minute)
}

// damper is the wanted share of outdoor air, 0 to 1: more than the minimum when that provides free cooling.
func (a *ahu) damper(t time.Time) float64 {
	if !a.running(t) {
		return 0
	}
	least := a.outdoor.value / 100
	out, back := a.weather.temperature(t), a.back(t)
	if back-out < 1 {
		return least
	}
	return clamp((back-a.setpoint.value)/(back-out), least, 1)
}

// blade is the share of outdoor air, 0 to 1: that of the damper's signal, unless the blade sticks.
func (a *ahu) blade(t time.Time) float64 {
	if a.stuck.value >= 0 && a.running(t) {
		return a.stuck.value / 100
	}
	return a.damper(t)
}

func (a *ahu) mixed(t time.Time) float64 {
	share := a.blade(t)
	return share*a.weather.temperature(t) + (1-share)*a.back(t)
}

func (a *ahu) heating(t time.Time) float64 {
	if !a.running(t) {
		return 0
	}
	return clamp((a.setpoint.value-a.mixed(t))/25, 0, 1)
}

func (a *ahu) cooling(t time.Time) float64 {
	if !a.running(t) {
		return 0
	}
	return clamp((a.mixed(t)-a.setpoint.value)/12, 0, 1)
}

func (a *ahu) mode(t time.Time) string {
	switch {
	case !a.running(t):
		return "off"
	case a.heating(t) > 0.01:
		return "heating"
	case a.cooling(t) > 0.01:
		return "cooling"
	}
	return "free cooling"
}
