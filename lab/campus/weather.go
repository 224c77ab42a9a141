package campus

import (
	"math"
	"time"
)

// Weather is the weather of a summer's day.
type Weather struct {
	Temperature float64 // °C
	Humidity    float64 // % relative
	Wind        float64 // m/s
	Sun         float64 // W/m²
}

// weatherAt returns the weather at a time. Day after day it is a little different; a seed always gives the same.
func weatherAt(t time.Time, seed float64) Weather {
	day := float64(t.YearDay())
	hour := float64(t.Hour()) + float64(t.Minute())/60 + float64(t.Second())/3600
	clouds := 0.5 + 0.5*math.Sin(day*1.7+seed+hour/5)
	temperature := 23 + 2*math.Sin(day*0.9+seed) + (7-2*clouds)*math.Sin((hour-9)/12*math.Pi)
	sun := max(0, math.Sin((hour-6)/12*math.Pi)) * (850 - 500*clouds)
	return Weather{
		Temperature: temperature,
		Humidity:    min(95, max(20, 55-2.2*(temperature-23)+15*clouds)),
		Wind:        2.5 + 1.5*math.Sin(hour/3+seed) + clouds,
		Sun:         sun,
	}
}

// Enthalpy returns the enthalpy of the air in kJ/kg, by the Magnus formula for the pressure of water vapour.
func (w Weather) Enthalpy() float64 {
	saturated := 610.94 * math.Exp(17.625*w.Temperature/(w.Temperature+243.04)) // Pa
	vapour := saturated * w.Humidity / 100
	moisture := 0.622 * vapour / (101325 - vapour)
	return 1.006*w.Temperature + moisture*(2501+1.86*w.Temperature)
}

// WetBulb returns the wet-bulb temperature in °C, by Stull's approximation.
func (w Weather) WetBulb() float64 {
	t, h := w.Temperature, w.Humidity
	return t*math.Atan(0.151977*math.Sqrt(h+8.313659)) + math.Atan(t+h) - math.Atan(h-1.676331) +
		0.00391838*math.Pow(h, 1.5)*math.Atan(0.023101*h) - 4.686035
}
