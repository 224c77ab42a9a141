package model

import "math"

const hour = 3600.0 // seconds

// The directions of a unit.
const (
	cooling = -1.0
	heating = 1.0
)

// room is a room with one heat capacity, as units of regulation studies are modelled (equivalent thermal parameters of
// first order): C dT/dt = (To − T)/R + direction·on·COP·P + gains.
func room() *Kind {
	return &Kind{
		Name: "room", Doc: "a room with one heat capacity and a unit that cools or heats it",
		Parameters: append([]Parameter{
			{"capacity", "kWh/K", 2, 0.001, 1e6},
			{"resistance", "K/kW", 2, 0.001, 1e6},
			{"temp", "°C at the start", 22, -60, 120},
		}, unitParameters()...),
		Inputs:  unitInputs(),
		Outputs: []Port{{"temp", "°C", 0}, {"power", "kW", 0}},
		make: func(p map[string]float64) System {
			return &roomSystem{unitOf(p), Room{p["capacity"], p["resistance"]}, p["temp"]}
		},
	}
}

func unitParameters() []Parameter {
	return []Parameter{
		{"rated", "kW electrical", 5.6, 0, 1e6},
		{"cop", "kW heat for each kW electrical", 2.5, 0, 100},
		{"direction", "-1 cools, 1 heats", cooling, cooling, heating},
	}
}

func unitInputs() []Port {
	return []Port{{"outdoor", "°C", 32}, {"on", "0 to 1", 0}, {"gains", "kW", 0}}
}

// unit is what heats or cools.
type unit struct{ rated, cop, direction float64 }

func unitOf(p map[string]float64) unit { return unit{p["rated"], p["cop"], p["direction"]} }

func (n unit) power(u []float64) float64 { return min(1, max(0, u[1])) * n.rated }

func (n unit) heat(u []float64) float64 { return n.direction*n.cop*n.power(u) + u[2] }

// Room has one heat capacity, and a resistance to the outdoors.
type Room struct {
	Capacity   float64 // kWh/K
	Resistance float64 // K/kW
}

// Slope is how fast the temperature changes, K/h, with what is moved into the room, kW.
func (r Room) Slope(temp, outdoor, heat float64) float64 {
	return ((outdoor-temp)/r.Resistance + heat) / r.Capacity
}

// Decay is the share of its distance from the final temperature that a room keeps over a time in hours in which nothing else changes.
func (r Room) Decay(hours float64) float64 { return math.Exp(-hours / (r.Resistance * r.Capacity)) }

// After is the temperature after a time with that decay: the exact solution of the equation.
func (r Room) After(temp, outdoor, heat, decay float64) float64 {
	end := outdoor + r.Resistance*heat
	return end + (temp-end)*decay
}

type roomSystem struct {
	unit
	Room

	temp float64
}

func (r *roomSystem) Begin() []float64 { return []float64{r.temp} }

func (r *roomSystem) Slope(_ float64, x, u, dx []float64) {
	dx[0] = r.Room.Slope(x[0], u[0], r.heat(u)) / hour
}

func (r *roomSystem) Output(_ float64, x, u, y []float64) { y[0], y[1] = x[0], r.power(u) }

// zone is a building with the capacities of its air and of its mass (equivalent thermal parameters of second order).
func zone() *Kind {
	return &Kind{
		Name: "zone", Doc: "a building with the heat capacities of its air and its mass, and a unit that cools or heats the air",
		Parameters: append([]Parameter{
			{"air", "kWh/K, capacity of the air and furniture", 1, 0.001, 1e6},
			{"mass", "kWh/K, capacity of walls and floors", 6, 0.001, 1e6},
			{"outside", "K/kW, between air and outdoors", 3, 0.001, 1e6},
			{"inside", "K/kW, between air and mass", 0.5, 0.001, 1e6},
			{"temp", "°C at the start", 22, -60, 120},
		}, unitParameters()...),
		Inputs:  unitInputs(),
		Outputs: []Port{{"temp", "°C", 0}, {"mass_temp", "°C", 0}, {"power", "kW", 0}},
		make: func(p map[string]float64) System {
			return &zoneSystem{unitOf(p), p["air"], p["mass"], p["outside"], p["inside"], p["temp"]}
		},
	}
}

type zoneSystem struct {
	unit
	air, mass, outside, inside, temp float64
}

func (z *zoneSystem) Begin() []float64 { return []float64{z.temp, z.temp} }

func (z *zoneSystem) Slope(_ float64, x, u, dx []float64) {
	between := (x[1] - x[0]) / z.inside
	dx[0] = ((u[0]-x[0])/z.outside + between + z.heat(u)) / z.air / hour
	dx[1] = -between / z.mass / hour
}

func (z *zoneSystem) Output(_ float64, x, u, y []float64) { y[0], y[1], y[2] = x[0], x[1], z.power(u) }

// thermostat is a controller with a dead band.
func thermostat() *Kind {
	return &Kind{
		Name: "thermostat", Doc: "a controller that switches at the edges of a dead band",
		Parameters: []Parameter{
			{"deadband", "K, from edge to edge", 1, 0.01, 100},
			{"direction", "-1 cools, 1 heats", cooling, cooling, heating},
		},
		Inputs:  []Port{{"temp", "°C", 22}, {"setpoint", "°C", 22}, {"allowed", "0: off whatever the temperature is", 1}},
		Outputs: []Port{{"on", "0 or 1", 0}},
		make:    func(p map[string]float64) System { return &thermostatSystem{p["deadband"], p["direction"]} },
	}
}

type thermostatSystem struct{ deadband, direction float64 }

func (c *thermostatSystem) Begin() []float64                    { return []float64{0} }
func (c *thermostatSystem) Slope(_ float64, _, _, dx []float64) { dx[0] = 0 }

func (c *thermostatSystem) Step(_ float64, x, u []float64) {
	switch miss := (u[1] - u[0]) * c.direction; { // how much heat or cold is missing, in K
	case miss >= c.deadband/2:
		x[0] = 1
	case miss <= -c.deadband/2:
		x[0] = 0
	}
}

func (c *thermostatSystem) Output(_ float64, x, u, y []float64) {
	y[0] = 0
	if u[2] > 0 {
		y[0] = x[0]
	}
}

// weather is a day that repeats.
func weather() *Kind {
	return &Kind{
		Name: "weather", Doc: "a clear day that repeats: a sine of the temperature, and the sun from 6 to 18 o'clock UTC",
		Parameters: []Parameter{
			{"mean", "°C", 26, -60, 60},
			{"swing", "K, from the mean to the warmest", 6, 0, 40},
			{"warmest", "hour of the day", 15, 0, 24},
			{"sun", "W/m² at noon", 900, 0, 1400},
		},
		Outputs: []Port{{"temp", "°C", 0}, {"irradiance", "W/m²", 0}},
		make: func(p map[string]float64) System {
			return &weatherSystem{p["mean"], p["swing"], p["warmest"], p["sun"]}
		},
	}
}

type weatherSystem struct{ mean, swing, warmest, sun float64 }

func (w *weatherSystem) Begin() []float64                               { return nil }
func (w *weatherSystem) Slope(float64, []float64, []float64, []float64) {}

func (w *weatherSystem) Output(t float64, _, _, y []float64) {
	h := t / hour
	y[0] = w.mean + w.swing*math.Cos((h-w.warmest)/24*2*math.Pi)
	y[1] = w.sun * max(0, math.Sin((h-6)/12*math.Pi))
}
