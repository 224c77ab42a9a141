package model

import "math"

// battery is a store of energy with losses and limits.
func battery() *Kind {
	return &Kind{
		Name: "battery", Doc: "a store of energy with losses, a limit of power, and what is left in it",
		Parameters: []Parameter{
			{"capacity", "kWh", 10, 0.001, 1e9},
			{"rated", "kW, in both directions", 5, 0, 1e9},
			{"efficiency", "of charging and of discharging, each", 0.95, 0.01, 1},
			{"charge", "at the start, 0 to 1", 0.5, 0, 1},
		},
		Inputs:  []Port{{"power", "kW, positive charges", 0}},
		Outputs: []Port{{"charge", "0 to 1", 0}, {"power", "kW, positive is imported", 0}},
		make: func(p map[string]float64) System {
			return &batterySystem{p["capacity"], p["rated"], p["efficiency"], p["charge"]}
		},
	}
}

type batterySystem struct{ capacity, rated, efficiency, charge float64 }

func (b *batterySystem) Begin() []float64 { return []float64{b.charge} }

// power is what it takes or gives: nothing more when it is full or empty.
func (b *batterySystem) power(charge, asked float64) float64 {
	p := min(b.rated, max(-b.rated, asked))
	if p > 0 && charge >= 1 || p < 0 && charge <= 0 {
		return 0
	}
	return p
}

func (b *batterySystem) Slope(_ float64, x, u, dx []float64) {
	p := b.power(x[0], u[0])
	if p > 0 {
		p *= b.efficiency
	} else {
		p /= b.efficiency
	}
	dx[0] = p / b.capacity / hour
}

// Step takes back what the last step of integration went beyond full or empty.
func (b *batterySystem) Step(_ float64, x, _ []float64) { x[0] = min(1, max(0, x[0])) }

func (b *batterySystem) Output(_ float64, x, u, y []float64) { y[0], y[1] = x[0], b.power(x[0], u[0]) }

// pv is a photovoltaic plant.
func pv() *Kind {
	return &Kind{
		Name: "pv", Doc: "a photovoltaic plant whose power follows the sun and falls with the temperature",
		Parameters: []Parameter{
			{"peak", "kW at 1000 W/m² and 25 °C", 10, 0, 1e9},
			{"loss", "share of the power for each K above 25 °C of the cells", 0.004, 0, 0.05},
		},
		Inputs:  []Port{{"irradiance", "W/m²", 0}, {"outdoor", "°C", 20}, {"limit", "share of the power that may be given, 0 to 1", 1}},
		Outputs: []Port{{"power", "kW, negative is given to the grid", 0}},
		make:    func(p map[string]float64) System { return &pvSystem{p["peak"], p["loss"]} },
	}
}

type pvSystem struct{ peak, loss float64 }

func (v *pvSystem) Begin() []float64                               { return nil }
func (v *pvSystem) Slope(float64, []float64, []float64, []float64) {}

func (v *pvSystem) Output(_ float64, _, u, y []float64) {
	cells := u[1] + 0.03*u[0] // some 27 K above the air at 900 W/m²
	y[0] = -v.peak * u[0] / 1000 * max(0, 1-v.loss*(cells-25)) * min(1, max(0, u[2]))
}

// feeder is the load of a street and its voltage.
func feeder() *Kind {
	return &Kind{
		Name: "feeder", Doc: "the load of a street with its peaks in the morning and the evening, and the voltage at its end",
		Parameters: []Parameter{
			{"base", "kW, by night", 40, 0, 1e9},
			{"peak", "kW, added in the evening; half of it in the morning", 60, 0, 1e9},
			{"voltage", "V at its beginning, between phases", 400, 1, 1e6},
			{"resistance", "Ω", 0.05, 0, 1e3},
		},
		Inputs:  []Port{{"load", "kW, of what is modelled by itself", 0}},
		Outputs: []Port{{"power", "kW", 0}, {"voltage", "V", 0}},
		make: func(p map[string]float64) System {
			return &feederSystem{p["base"], p["peak"], p["voltage"], p["resistance"]}
		},
	}
}

type feederSystem struct{ base, peak, voltage, resistance float64 }

func (f *feederSystem) Begin() []float64                               { return nil }
func (f *feederSystem) Slope(float64, []float64, []float64, []float64) {}

func (f *feederSystem) Output(t float64, _, u, y []float64) {
	h := math.Mod(t/hour, 24)
	hump := func(at, width float64) float64 { return math.Exp(-(h - at) * (h - at) / (2 * width * width)) }
	y[0] = f.base + f.peak*(hump(19.5, 2)+hump(7.5, 1.5)/2) + u[0]
	y[1] = f.voltage - f.resistance*y[0]*1000/f.voltage
}
