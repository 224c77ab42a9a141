package sim

import (
	"math"
	"time"
)

// What all rooms have in common.
const (
	roomCapacity = 1.6  // kWh/K: air, furniture and the surface of the walls
	roomLoss     = 0.55 // kW/K to the outside: walls, windows and fresh air
	roomIdle     = 0.6  // kW of heat when unoccupied
	roomPeople   = 3.0  // additional kW of heat: people, lighting and equipment
	roomSun      = 1.8  // kW through the window at 1000 W/m² when the sun faces it
	roomCooling  = 15.0 // kW, maximum cooling
	roomHeating  = 25.0 // kW, maximum heating by hot water
	roomWarm     = 20.0 // degC: it is heated below this
	roomBand     = 1.0  // K from closed to fully open; half open at the set point
	fanLeast     = 0.1  // kW of electricity
	fanMore      = 0.5  // additional kW of electricity, fully open
)

// room is a cooled room: a first-order thermal mass with a proportional cooling controller. In winter it is heated with hot water, which uses no
// electricity. Its individual properties come from its seed, the weather from its line.
type room struct {
	weather  weather
	seed     uint64
	size     float64 // relative to an ordinary room
	window   float64 // hour at which the sun faces its window
	temp     integral
	setpoint setting // degC
}

// newRoom returns the model room, and adds it to the building on its line.
func newRoom(l *line, c *Config) *model {
	seed := scramble(uint64(c.Seed) + 300)
	r := &room{
		weather: c.around(), seed: seed, size: 1 + 0.15*dice(seed, 1), window: 12.5 + 3.5*dice(seed, 2),
		temp: integral{value: 23}, setpoint: setting{value: 23, low: 18, high: 30},
	}
	l.rooms = append(l.rooms, r)
	return &model{
		advance: r.advance,
		close:   func() { l.leave(r) },
		fields: []field{
			measured("temp", "degC", "Room temperature", r.temp.at),
			setpoint("setpoint", "degC", "The room is cooled to this temperature", &r.setpoint),
			measured("cooling_valve", "%", "Opening of the cooling coil's valve", func(t time.Time) float64 { return 100 * r.valve(r.temp.at(t)) }),
			measured("cooling", "kW", "Heat that is taken out of the room", r.cooling),
			measured("power", "kW", "Electricity for cooling and fan", r.power),
			measured("gains", "kW", "Heat from people, devices and sun", r.gains),
			state("occupied", "Somebody is there", func(t time.Time) bool { return openHours(t) > 0 }),
		},
	}
}

func (r *room) advance(t time.Time) { r.temp.advance(t, r.slope) }

// slope is the change of the room's temperature in K/s.
func (r *room) slope(temp float64, t time.Time) float64 {
	heat := r.size*roomLoss*(r.weather.temperature(t)-temp) + r.gains(t) + r.heating(temp) - r.size*roomCooling*r.valve(temp)
	return heat / (r.size * roomCapacity * 3600)
}

// gains is the internal and solar heat gain, in kW.
func (r *room) gains(t time.Time) float64 {
	people := roomPeople * openHours(t) * (0.9 + 0.1*noise(r.seed, t, 40*time.Minute))
	facing := math.Max(0, swing(t, r.window))
	return r.size * (roomIdle + people + roomSun*facing*r.weather.solar(t)/1000)
}

// valve is the opening of the cooling, 0 to 1.
func (r *room) valve(temp float64) float64 {
	return clamp((temp-r.setpoint.value)/roomBand+0.5, 0, 1)
}

// heating is the heat from hot water, in kW; it starts well below the point where cooling ends.
func (r *room) heating(temp float64) float64 {
	return r.size * roomHeating * clamp(min(roomWarm, r.setpoint.value-2*roomBand)-temp, 0, 1)
}

// cooling is the heat removed, in kW.
func (r *room) cooling(t time.Time) float64 {
	return r.size * roomCooling * r.valve(r.temp.at(t))
}

// power is the electricity used by the room's cooling, in kW: more when it is hot outside.
func (r *room) power(t time.Time) float64 {
	valve := r.valve(r.temp.at(t))
	performance := clamp(5-0.1*(r.weather.temperature(t)-20), 2.2, 5)
	return r.cooling(t)/performance + r.size*(fanLeast+fanMore*valve*valve)
}

// openHours is the occupancy of the building, 0 to 1: every day from 6 to 20 hours.
func openHours(t time.Time) float64 {
	hour := 24 * day(t)
	return clamp((hour-6)/2, 0, 1) * clamp((20-hour)/2, 0, 1)
}
