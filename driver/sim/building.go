package sim

import (
	"hash/fnv"
	"slices"
	"time"

	"voltbus/point"
)

const (
	commonBase = 6.0  // kW of electricity at night
	commonDay  = 14.0 // kW more while the building is full
)

// building is the meter for all rooms on its line.
type building struct {
	line    *line
	weather weather
	seed    uint64
}

// newBuilding returns the model building.
func newBuilding(l *line, c *Config) *model {
	b := &building{line: l, weather: c.around(), seed: scramble(uint64(c.Seed) + 400)}
	return &model{
		advance: func(t time.Time) {
			for _, r := range l.rooms {
				r.advance(t)
			}
		},
		fields: []field{
			measured("power", "kW", "Active power, positive: import from the grid", func(t time.Time) float64 { return b.common(t) + b.cooling(t) }),
			measured("cooling_power", "kW", "Electricity for the cooling and the fans of all rooms", b.cooling),
			measured("common_power", "kW", "Electricity for light, lifts and what people work with", b.common),
			measured("outdoor_temp", "degC", "Outdoor temperature", b.weather.temperature),
			measured("solar", "W/m2", "Global radiation on the horizontal", b.weather.solar),
			measured("hour", "h", "The hour of the day that the building lives in", func(t time.Time) float64 { return 24 * day(t) }),
			{
				name: "rooms", unit: "1", doc: "Rooms that it counts", kind: point.Int,
				value: func(time.Time) point.Value { return point.IntOf(int64(len(l.rooms))) },
			},
		},
	}
}

func (b *building) cooling(t time.Time) float64 {
	var sum float64
	for _, r := range b.line.rooms {
		sum += r.power(t)
	}
	return sum
}

func (b *building) common(t time.Time) float64 {
	return (commonBase + commonDay*openHours(t)) * (1 + 0.02*noise(b.seed, t, 5*time.Minute))
}

// leave removes a room from the building's sum.
func (l *line) leave(r *room) {
	l.rooms = slices.DeleteFunc(l.rooms, func(o *room) bool { return o == r })
}

// weather is the weather of the configuration's seed and climate.
func (c *Config) weather() weather {
	return weather{seed: uint64(c.Seed), hot: c.Climate == "hot"}
}

// around is the weather around a building, which all its devices share whatever their seeds.
func (c *Config) around() weather {
	h := fnv.New64a()
	_, _ = h.Write([]byte(c.Line)) // never fails
	return weather{seed: h.Sum64(), hot: c.Climate == "hot"}
}
