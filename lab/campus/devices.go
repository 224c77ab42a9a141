package campus

import (
	"fmt"
	"time"

	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/server"
)

// board makes the objects of a device.
type board struct {
	signals []*signal
	next    map[enum.ObjectType]uint32
}

func (b *board) add(c server.PointConfig, first float64, commandable bool) *signal {
	if b.next == nil {
		b.next = map[enum.ObjectType]uint32{}
	}
	b.next[c.ID.Type]++
	c.ID.Instance = b.next[c.ID.Type]
	s := newSignal(c, first, commandable)
	b.signals = append(b.signals, s)
	return s
}

// sensor adds an analog input; increment is the change that subscribers are told.
func (b *board) sensor(name string, unit enum.Unit, increment float32) *signal {
	return b.add(server.PointConfig{ID: encoding.ObjectID{Type: enum.AnalogInput}, Name: name, Units: unit, Increment: increment}, 0, false)
}

// actuator adds an analog output in percent.
func (b *board) actuator(name string) *signal {
	return b.add(server.PointConfig{
		ID: encoding.ObjectID{Type: enum.AnalogOutput}, Name: name, Units: enum.UnitPercent, Increment: 1, Min: encoding.Real(0), Max: encoding.Real(100),
	}, 0, true)
}

// setpoint adds an analog value that can be commanded.
func (b *board) setpoint(name string, unit enum.Unit, first, least, most float32) *signal {
	return b.add(server.PointConfig{
		ID: encoding.ObjectID{Type: enum.AnalogValue}, Name: name, Units: unit, Increment: 0.1, Min: encoding.Real(least), Max: encoding.Real(most),
	}, float64(first), true)
}

// contact adds a binary object.
func (b *board) contact(t enum.ObjectType, name, off, on string) *signal {
	return b.add(server.PointConfig{ID: encoding.ObjectID{Type: t}, Name: name, Inactive: off, Active: on}, 0, t != enum.BinaryInput)
}

// choice adds a multi-state object.
func (b *board) choice(t enum.ObjectType, name string, states ...string) *signal {
	return b.add(server.PointConfig{ID: encoding.ObjectID{Type: t}, Name: name, States: states}, 1, t == enum.MultiStateValue)
}

// buildingBoard has the objects of the device for the air handlers of a building.
type buildingBoard struct {
	board

	temperature, humidity, wind, sun, enthalpy, wetBulb *signal
	occupied, power                                     *signal
	handlers                                            [handlers]handlerBoard
}

func (b *buildingBoard) make(number int) {
	b.temperature = b.sensor("Outdoor Air Temperature", enum.UnitDegreesCelsius, 0.1)
	b.humidity = b.sensor("Outdoor Air Humidity", enum.UnitPercentRelativeHumidity, 1)
	b.wind = b.sensor("Wind Speed", enum.UnitMetersPerSecond, 0.2)
	b.sun = b.sensor("Solar Radiation", enum.UnitWattsPerSquareMeter, 10)
	b.enthalpy = b.sensor("Outdoor Air Enthalpy", enum.UnitKilojoulesPerKilogram, 0.5)
	b.wetBulb = b.sensor("Outdoor Air Wet Bulb", enum.UnitDegreesCelsius, 0.1)
	b.power = b.sensor(fmt.Sprintf("Building %d Power", number), enum.UnitKilowatts, 1)
	b.occupied = b.contact(enum.BinaryValue, "Occupancy Schedule", "unoccupied", "occupied")
	for i := range b.handlers {
		b.handlers[i].make(&b.board, fmt.Sprintf("AHU %d ", i+1))
	}
}

func (b *buildingBoard) showWeather(w Weather) {
	b.temperature.set(w.Temperature)
	b.humidity.set(w.Humidity)
	b.wind.set(w.Wind)
	b.sun.set(w.Sun)
	b.enthalpy.set(w.Enthalpy())
	b.wetBulb.set(w.WetBulb())
}

// handlerBoard has the objects of an air handler.
type handlerBoard struct {
	command, status, economy, filterAlarm, lowTemperature                *signal
	speed, outdoor, cooling, heating                                     *signal
	setpoint, least                                                      *signal
	supply, mixed, back, pressure, filter, air, co2, fanPower, cold, hot *signal
	hours, mode                                                          *signal
}

func (h *handlerBoard) make(b *board, name string) {
	h.command = b.contact(enum.BinaryOutput, name+"Supply Fan Command", "off", "on")
	h.status = b.contact(enum.BinaryInput, name+"Supply Fan Status", "stopped", "running")
	h.speed = b.actuator(name + "Supply Fan Speed")
	h.outdoor = b.actuator(name + "Outdoor Air Damper")
	h.cooling = b.actuator(name + "Cooling Valve")
	h.heating = b.actuator(name + "Heating Valve")
	h.setpoint = b.setpoint(name+"Supply Temperature Setpoint", enum.UnitDegreesCelsius, 14, 10, 25)
	h.least = b.setpoint(name+"Minimum Outdoor Air", enum.UnitPercent, 20, 0, 100)
	h.economy = b.contact(enum.BinaryValue, name+"Economizer Enable", "off", "on")
	h.economy.setBool(true)
	h.supply = b.sensor(name+"Supply Temperature", enum.UnitDegreesCelsius, 0.1)
	h.mixed = b.sensor(name+"Mixed Temperature", enum.UnitDegreesCelsius, 0.1)
	h.back = b.sensor(name+"Return Temperature", enum.UnitDegreesCelsius, 0.1)
	h.pressure = b.sensor(name+"Static Pressure", enum.UnitPascals, 5)
	h.filter = b.sensor(name+"Filter Pressure", enum.UnitPascals, 2)
	h.air = b.sensor(name+"Air Flow", enum.UnitLitersPerSecond, 20)
	h.co2 = b.sensor(name+"Return CO2", enum.UnitPartsPerMillion, 10)
	h.fanPower = b.sensor(name+"Fan Power", enum.UnitKilowatts, 0.1)
	h.cold = b.sensor(name+"Cooling Power", enum.UnitKilowatts, 1)
	h.hot = b.sensor(name+"Heating Power", enum.UnitKilowatts, 1)
	h.hours = b.sensor(name+"Fan Run Hours", enum.UnitHours, 1)
	h.mode = b.choice(enum.MultiStateInput, name+"Mode", "off", "heating", "outdoor air", "cooling")
	h.filterAlarm = b.contact(enum.BinaryInput, name+"Filter Alarm", "normal", "alarm")
	h.lowTemperature = b.contact(enum.BinaryInput, name+"Low Temperature Alarm", "normal", "alarm")
}

// Modes of an air handler.
const (
	modeOff = iota + 1
	modeHeating
	modeOutdoorAir
	modeCooling
)

func modeOf(h *Handler) float64 {
	switch {
	case !h.Running:
		return modeOff
	case h.Heating > 0.01:
		return modeHeating
	case h.Cooling > 0.01:
		return modeCooling
	}
	return modeOutdoorAir
}

func (h *handlerBoard) show(now *Handler, co2 float64) {
	cooling, heating := now.coils()
	h.status.setBool(now.Running && now.Speed > 0)
	h.supply.set(now.Supply)
	h.mixed.set(now.Mixed)
	h.back.set(now.Return)
	h.pressure.set(now.Pressure)
	h.filter.set(now.Filter)
	h.air.set(now.Air * 1000)
	h.co2.set(co2)
	h.fanPower.set(now.fan())
	h.cold.set(cooling)
	h.hot.set(heating)
	h.hours.set(now.Hours)
	h.mode.set(modeOf(now))
	h.filterAlarm.setBool(now.Filter > 100)
	h.lowTemperature.setBool(now.Supply < 8)
}

// floorBoard has the objects of the device of a floor.
type floorBoard struct {
	board

	outdoor, mean, air, occupied *signal
	rooms                        [roomsOfFloor]roomBoard
}

func (f *floorBoard) make(number int) {
	f.outdoor = f.sensor("Outdoor Air Temperature", enum.UnitDegreesCelsius, 0.1)
	f.mean = f.sensor("Floor Temperature", enum.UnitDegreesCelsius, 0.1)
	f.air = f.sensor("Floor Air Flow", enum.UnitLitersPerSecond, 20)
	f.occupied = f.contact(enum.BinaryInput, "Floor Occupancy", "unoccupied", "occupied")
	for i := range f.rooms {
		f.rooms[i].make(&f.board, fmt.Sprintf("VAV %d%02d ", number, i+1))
	}
}

func (f *floorBoard) show(rooms []Room, w Weather, occupied bool) {
	sum, air := 0.0, 0.0
	for i := range rooms {
		sum += rooms[i].Temperature
		air += rooms[i].Air
	}
	f.outdoor.set(w.Temperature)
	f.mean.set(sum / float64(len(rooms)))
	f.air.set(air * 1000)
	f.occupied.setBool(occupied)
}

// roomBoard has the objects of a room.
type roomBoard struct {
	temperature, cooling, heating, mode, damper, reheat, air, airWanted, discharge, co2, coolingDemand, heatingDemand *signal
}

func (r *roomBoard) make(b *board, name string) {
	r.temperature = b.sensor(name+"Zone Temperature", enum.UnitDegreesCelsius, 0.1)
	r.cooling = b.setpoint(name+"Cooling Setpoint", enum.UnitDegreesCelsius, 24, 18, 32)
	r.heating = b.setpoint(name+"Heating Setpoint", enum.UnitDegreesCelsius, 21, 10, 26)
	r.mode = b.choice(enum.MultiStateValue, name+"Occupancy Mode", "schedule", "occupied", "unoccupied")
	r.damper = b.actuator(name + "Damper")
	r.reheat = b.actuator(name + "Reheat Valve")
	r.air = b.sensor(name+"Air Flow", enum.UnitLitersPerSecond, 5)
	r.airWanted = b.sensor(name+"Air Flow Setpoint", enum.UnitLitersPerSecond, 5)
	r.discharge = b.sensor(name+"Discharge Temperature", enum.UnitDegreesCelsius, 0.2)
	r.co2 = b.sensor(name+"CO2", enum.UnitPartsPerMillion, 10)
	r.coolingDemand = b.sensor(name+"Cooling Demand", enum.UnitPercent, 1)
	r.heatingDemand = b.sensor(name+"Heating Demand", enum.UnitPercent, 1)
}

// setback is how many kelvin the setpoints of a room give way while nobody is there.
const setback = 4

// step lets time pass in a room.
func (r *roomBoard) step(room *Room, d time.Duration, c Conditions, occupied bool) {
	cooling, heating := r.cooling.value(), r.heating.value()
	if mode := r.mode.value(); mode == 3 || (mode == 1 && !occupied) {
		cooling, heating = cooling+setback, heating-setback
	}
	damper, valve := room.want(cooling, heating, c)
	room.Damper, room.Reheat = percent(r.damper, damper), percent(r.reheat, valve)
	room.step(d, c)
	r.temperature.set(room.Temperature)
	r.air.set(room.Air * 1000)
	r.airWanted.set(damper * mostAir * 1000)
	r.discharge.set(room.Discharge)
	r.co2.set(room.CO2)
	r.coolingDemand.set(100 * share(room.Temperature-cooling+0.5))
	r.heatingDemand.set(100 * share(heating-room.Temperature+0.5))
}
