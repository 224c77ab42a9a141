package sim

import (
	"math"
	"time"
)

// weather is a moderate climate: a daily and a yearly sine, and fronts that pass. A hot one has no
// seasons.
type weather struct {
	seed uint64
	hot  bool
}

// newWeather returns the model weather.
func newWeather(c *Config) *model {
	w := c.weather()
	return &model{fields: []field{
		measured("outdoor_temp", "degC", "Outdoor temperature", w.temperature),
		measured("humidity", "%", "Relative humidity", w.humidity),
		measured("solar", "W/m2", "Global radiation on the horizontal", w.solar),
		measured("wind", "m/s", "Wind speed", w.wind),
		word("condition", "What the sky looks like: clear, cloudy or rain", w.condition),
		state("daylight", "The sun is above the horizon", func(t time.Time) bool { return w.sun(t) > 0 }),
	}}
}

// temperature is the outdoor temperature in degC.
func (w weather) temperature(t time.Time) float64 {
	if w.hot {
		return 30 + 4.5*swing(t, 15) + 0.6*noise(w.seed, t, 40*time.Hour) + 0.2*noise(w.seed+1, t, 7*time.Minute)
	}
	year := math.Cos(2 * math.Pi * float64(t.YearDay()-200) / 365.25)
	return 9 + 10*year + (2+3*(1-w.cloud(t)))*swing(t, 15) + 4*noise(w.seed, t, 40*time.Hour) + 0.3*noise(w.seed+1, t, 7*time.Minute)
}

// cloud is the cloud cover, 0 to 1.
func (w weather) cloud(t time.Time) float64 {
	return clamp(0.5+0.7*noise(w.seed+2, t, 9*time.Hour), 0, 1)
}

// sun is the height of the sun, 0 (set) to 1.
func (w weather) sun(t time.Time) float64 {
	year := 0.8
	if !w.hot {
		year = math.Cos(2 * math.Pi * float64(t.YearDay()-172) / 365.25)
	}
	return clamp(0.25*year+0.15+0.6*swing(t, 12), 0, 1)
}

func (w weather) solar(t time.Time) float64 { return 950 * w.sun(t) * (1 - 0.75*w.cloud(t)) }

func (w weather) humidity(t time.Time) float64 {
	return clamp(65-15*swing(t, 15)+25*(w.cloud(t)-0.5)+5*noise(w.seed+3, t, 2*time.Hour), 15, 100)
}

func (w weather) wind(t time.Time) float64 {
	return math.Abs(3.5 + 3*noise(w.seed+4, t, 5*time.Hour) + noise(w.seed+5, t, 40*time.Second))
}

func (w weather) condition(t time.Time) string {
	switch cloud := w.cloud(t); {
	case cloud > 0.85:
		return "rain"
	case cloud > 0.4:
		return "cloudy"
	}
	return "clear"
}

func clamp(v, low, high float64) float64 { return max(low, min(high, v)) }
