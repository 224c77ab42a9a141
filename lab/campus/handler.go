package campus

import (
	"math"
	"time"
)

// Physics of an air handler.
const (
	coolingCoil  = 16.0  // K that an open valve takes from the air
	heatingCoil  = 25.0  // K that an open valve gives
	fanHeat      = 0.6   // K at full speed
	fanPower     = 9.0   // kW at full speed
	fullPressure = 500.0 // Pa at full speed with closed dampers
)

// Handler is an air handler and the program of its controller.
type Handler struct {
	Running  bool
	Speed    float64 // 0–1
	Outdoor  float64 // 0–1: damper of outdoor air
	Cooling  float64 // 0–1: valve
	Heating  float64 // 0–1: valve
	Mixed    float64 // °C
	Return   float64 // °C
	Supply   float64 // °C
	Air      float64 // m³/s
	Pressure float64 // Pa
	Filter   float64 // Pa that the filter takes
	Hours    float64 // that the fan ran
	dirt     float64 // 0–1, of the filter
}

// wants is what the program of an air handler wants.
type wants struct{ outdoor, cooling, heating, speed float64 }

// want returns what the program wants to supply air of the setpoint. Economy says that it may cool with outdoor air, least is the share of
// outdoor air that people need, demand the share of the most air that the rooms ask for.
func (h *Handler) want(w Weather, setpoint float64, economy bool, least, demand float64) (s wants) {
	if !h.Running {
		return s
	}
	s.speed = max(0.3, demand)
	s.outdoor = least
	if economy && w.Temperature < h.Return && h.Return > setpoint {
		needed := (h.Return - setpoint) / (h.Return - w.Temperature)
		s.outdoor = max(least, share(needed))
	}
	mixed := s.outdoor*w.Temperature + (1-s.outdoor)*h.Return + fanHeat*h.Speed
	s.cooling = share((mixed - setpoint) / coolingCoil)
	s.heating = share((setpoint - mixed) / heatingCoil)
	return s
}

// step lets time pass with what the fan, the damper and the valves were set to; the air comes back from the rooms.
func (h *Handler) step(d time.Duration, w Weather, back, air float64) {
	s := d.Seconds()
	h.Return += (back - h.Return) * (1 - math.Exp(-s/60))
	h.Air = air
	if !h.Running {
		h.Air, h.Speed, h.Pressure, h.Filter = 0, 0, 0, 0
		h.Mixed += (h.Return - h.Mixed) * (1 - math.Exp(-s/900))
		h.Supply += (h.Return - h.Supply) * (1 - math.Exp(-s/900))
		return
	}
	h.Hours += d.Hours()
	h.dirt = min(1, h.dirt+d.Hours()/4000)
	h.Mixed = h.Outdoor*w.Temperature + (1-h.Outdoor)*h.Return
	to := h.Mixed + fanHeat*h.Speed - coolingCoil*h.Cooling + heatingCoil*h.Heating
	h.Supply += (to - h.Supply) * (1 - math.Exp(-s/120))
	load := h.Air / (mostAir * roomsOfHandler)
	h.Pressure = fullPressure * h.Speed * h.Speed * (1 - 0.5*share(load))
	h.Filter = (40 + 160*h.dirt) * load * load
}

// fan returns the electric power of the fan in kW: it grows with the cube of the speed.
func (h *Handler) fan() float64 { return fanPower * h.Speed * h.Speed * h.Speed }

// coils returns the power that the coils take from the air and give to it, in kW.
func (h *Handler) coils() (cooling, heating float64) {
	flow := airHeat * h.Air / 1000
	return flow * coolingCoil * h.Cooling, flow * heatingCoil * h.Heating
}
