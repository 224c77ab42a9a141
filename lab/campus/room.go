package campus

import (
	"math"
	"time"
)

// Physics of a room of 100 m² with a box for variable air volume that can heat what it lets in.
const (
	heatCapacity = 5e6  // J/K, of the air and what stands in it
	throughWalls = 60   // W/K
	windows      = 3.0  // m² through which the sun shines, less what the blinds keep out
	airHeat      = 1206 // J/(m³·K)
	mostAir      = 0.40 // m³/s, with an open damper and enough pressure
	leastAir     = 0.15 // share of it that the damper lets in while the air handler runs
	reheat       = 4000 // W, with an open valve
	perPerson    = 100  // W
	equipment    = 900  // W while people are there
	outdoorCO2   = 420  // ppm
	volume       = 300  // m³
	breath       = 5e-6 // m³/s of CO2 a person
)

// Room is a room and the program of its controller.
type Room struct {
	Temperature float64 // °C
	CO2         float64 // ppm
	Damper      float64 // 0–1
	Reheat      float64 // 0–1
	Air         float64 // m³/s
	Discharge   float64 // °C, of the air that comes in
	people      float64 // most of them
}

// Conditions is what happens around a room.
type Conditions struct {
	Weather  Weather
	Supply   float64 // °C, of the air of the air handler
	Pressure float64 // 0–1: share of the air that the handler can deliver; 0: it stands still
	Occupied float64 // 0–1: share of the people who are there
}

// want returns the damper and the valve that the program wants between its setpoints: dampers open above the cooling setpoint,
// valves below the heating setpoint, within one kelvin.
func (r *Room) want(cooling, heating float64, c Conditions) (damper, valve float64) {
	if c.Pressure <= 0 {
		return 0, 0
	}
	return leastAir + (1-leastAir)*share(r.Temperature-cooling+0.5), share(heating - r.Temperature + 0.5)
}

// step lets time pass with what the damper and the valve were set to.
func (r *Room) step(d time.Duration, c Conditions) {
	s := d.Seconds()
	r.Air = mostAir * r.Damper * c.Pressure
	heating := 0.0
	r.Discharge += (r.Temperature - r.Discharge) * (1 - math.Exp(-s/600)) // without air the duct takes on the room's
	if r.Air > 0.01 {
		heating = reheat * r.Reheat
		r.Discharge = c.Supply + heating/(airHeat*r.Air)
	}
	people := r.people * c.Occupied
	gains := people*perPerson + equipment*c.Occupied + windows*c.Weather.Sun*0.4 + heating
	flow := airHeat * r.Air
	// Implicit: it does not swing, however long a step is.
	r.Temperature = (heatCapacity/s*r.Temperature + throughWalls*c.Weather.Temperature + flow*c.Supply + gains) /
		(heatCapacity/s + throughWalls + flow)
	leak := 0.02 // m³/s through doors
	r.CO2 = (volume/s*r.CO2 + (leak+r.Air)*outdoorCO2 + people*breath*1e6) / (volume/s + leak + r.Air)
}

// share bounds a number to 0–1.
func share(x float64) float64 { return min(1, max(0, x)) }
