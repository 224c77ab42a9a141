package campus

import (
	"math"
	"time"
)

// How large a building is.
const (
	floors         = 9
	roomsOfFloor   = 8
	handlers       = 4
	roomsOfHandler = floors * roomsOfFloor / handlers
)

// building is a building: its rooms, its air handlers, and the objects that show them.
type building struct {
	seed     float64
	rooms    [floors * roomsOfFloor]Room
	handlers [handlers]Handler
	board    buildingBoard
	floors   [floors]floorBoard
}

// newBuilding makes a building as it is in the morning.
func newBuilding(number int) *building {
	b := &building{seed: float64(number) * 1.3}
	for i := range b.rooms {
		b.rooms[i] = Room{Temperature: 22.5 + math.Mod(float64(i)*0.37, 1.5), Discharge: 20, CO2: 500, people: float64(4 + (i+number)%7)}
	}
	for i := range b.handlers {
		b.handlers[i] = Handler{Return: 23, Mixed: 23, Supply: 16, dirt: 0.2 + 0.15*float64(i)}
	}
	b.board.make(number)
	for f := range b.floors {
		b.floors[f].make(f + 1)
	}
	return b
}

// handlerOf returns which air handler serves a room: each serves a side of all floors.
func handlerOf(room int) int { return room % handlers }

// people returns the share of the people who are there: on workdays from seven to seven, fewer at noon.
func people(t time.Time) float64 {
	hour := float64(t.Hour()) + float64(t.Minute())/60
	switch {
	case t.Weekday() == time.Saturday || t.Weekday() == time.Sunday || hour < 7 || hour > 19:
		return 0
	case hour > 12 && hour < 13:
		return 0.5
	}
	return share(min((hour-7)/2, (19-hour)/2) + 0.1)
}

// step lets time pass until t.
func (b *building) step(t time.Time, d time.Duration) {
	w := weatherAt(t, b.seed)
	crowd := people(t)
	occupied := b.board.occupied.setBool(crowd > 0)
	b.board.showWeather(w)
	var supply [handlers]struct{ pressure, supply float64 }
	for i := range b.handlers {
		h, show := &b.handlers[i], &b.board.handlers[i]
		demand := b.demand(i)
		h.Running = show.command.setBool(occupied || demand > 0.5)
		s := h.want(w, show.setpoint.value(), show.economy.value() != 0, show.least.value()/100, demand)
		h.Outdoor, h.Cooling = percent(show.outdoor, s.outdoor), percent(show.cooling, s.cooling)
		h.Heating, h.Speed = percent(show.heating, s.heating), percent(show.speed, s.speed)
		supply[i].supply = h.Supply
		if h.Running {
			supply[i].pressure = share(h.Speed / max(0.3, demand))
		}
	}
	for i := range b.rooms {
		from := supply[handlerOf(i)]
		c := Conditions{Weather: w, Supply: from.supply, Pressure: from.pressure, Occupied: crowd}
		b.floors[i/roomsOfFloor].rooms[i%roomsOfFloor].step(&b.rooms[i], d, c, occupied)
	}
	b.finish(d, w, occupied)
}

// percent sets a signal in percent and returns the share that holds.
func percent(s *signal, want float64) float64 { return share(s.set(want*100) / 100) }

// demand returns the share of the most air that the rooms of an air handler ask for.
func (b *building) demand(handler int) float64 {
	sum := 0.0
	for i := range b.rooms {
		if handlerOf(i) == handler {
			sum += max(b.rooms[i].Damper, share(b.rooms[i].Temperature-28)) // a closed building that is hot asks too
		}
	}
	return sum / roomsOfHandler
}

// finish moves the air handlers on by what their rooms took, and shows everything.
func (b *building) finish(d time.Duration, w Weather, occupied bool) {
	power := 60.0 // lifts, servers and lamps that always shine
	if occupied {
		power += 140
	}
	for i := range b.handlers {
		air, heat := 0.0, 0.0
		for r := range b.rooms {
			if handlerOf(r) == i {
				air += b.rooms[r].Air
				heat += b.rooms[r].Temperature
			}
		}
		h := &b.handlers[i]
		h.step(d, w, heat/roomsOfHandler, air)
		b.board.handlers[i].show(h, b.co2(i))
		cooling, _ := h.coils()
		power += h.fan() + cooling/3.5 // the chiller's coefficient of performance
	}
	b.board.power.set(power)
	for f := range b.floors {
		b.floors[f].show(b.rooms[f*roomsOfFloor:(f+1)*roomsOfFloor], w, occupied)
	}
}

// co2 returns the concentration in the air that comes back to an air handler.
func (b *building) co2(handler int) float64 {
	sum := 0.0
	for i := range b.rooms {
		if handlerOf(i) == handler {
			sum += b.rooms[i].CO2
		}
	}
	return sum / roomsOfHandler
}
