package template

import "voltbus/point"

func measures(f *facts) bool { return !f.Writable && (f.Kind == point.Float || f.Kind == point.Int) }
func isNumber(f *facts) bool { return f.Kind == point.Float || f.Kind == point.Int }
func isState(f *facts) bool  { return f.Kind == point.Bool || f.Kind == point.Text }
func isSwitch(f *facts) bool { return f.Kind == point.Bool }

var wantedNames = []string{"setpoint", "sp", "wanted"}

// slotTable are the places that templates have in common.
var slotTable = struct {
	supplyAir, returnAir, outdoorAir, setpoint, fan, damper, filter, supplyWater, returnWater, burner, flame, waterFlow, pressure, power, energy, voltage, current, frequency, breaker, roomTemp, co2, humidity, allTemps, allPowers, states slot
}{
	supplyAir:   slot{kind: "value", all: [][]string{{"supply", "discharge", "sat", "leaving"}}, not: append([]string{"water", "return"}, wantedNames...), units: temperatureUnits, is: measures, w: 3, h: 2},
	returnAir:   slot{kind: "value", all: [][]string{{"return", "extract", "exhaust", "rat"}}, not: wantedNames, units: temperatureUnits, is: measures, w: 3, h: 2},
	outdoorAir:  slot{kind: "value", all: [][]string{{"outdoor", "outside", "ambient", "oat"}}, not: append([]string{"mix", "mixed"}, wantedNames...), units: temperatureUnits, is: measures, w: 3, h: 2},
	setpoint:    slot{kind: "value", all: [][]string{{"setpoint", "sp", "wanted"}}, units: temperatureUnits, is: isNumber, w: 3, h: 2},
	fan:         slot{kind: "gauge", all: [][]string{{"fan"}}, units: percentUnits, is: isNumber, w: 3, h: 3},
	damper:      slot{kind: "bar", title: "Dampers and valves", all: [][]string{{"damper", "valve", "coil"}}, not: []string{"stuck"}, units: percentUnits, is: isNumber, most: 6, w: 6, h: 3},
	filter:      slot{kind: "value", all: [][]string{{"filter", "pressure", "static"}}, units: pressureUnits, is: measures, w: 3, h: 3},
	supplyWater: slot{kind: "value", all: [][]string{{"supply", "flow", "leaving"}}, not: append([]string{"return"}, wantedNames...), units: temperatureUnits, is: measures, w: 3, h: 2},
	returnWater: slot{kind: "value", all: [][]string{{"return", "entering"}}, not: wantedNames, units: temperatureUnits, is: measures, w: 3, h: 2},
	burner:      slot{kind: "value", all: [][]string{{"burner", "firing", "fire", "stage", "modulation"}}, w: 3, h: 2},
	flame:       slot{kind: "state", all: [][]string{{"flame", "burner"}}, is: isSwitch, w: 3, h: 2},
	waterFlow:   slot{kind: "value", units: flowUnits, is: measures, w: 3, h: 2},
	pressure:    slot{kind: "gauge", units: pressureUnits, is: measures, w: 3, h: 3, high: 10},
	power:       slot{kind: "value", units: powerUnits, is: measures, w: 4, h: 2},
	energy:      slot{kind: "value", units: energyUnits, is: measures, w: 4, h: 2},
	voltage:     slot{kind: "value", units: voltUnits, is: measures, w: 4, h: 2},
	current:     slot{kind: "value", units: ampereUnits, is: measures, w: 4, h: 2},
	frequency:   slot{kind: "value", units: hertzUnits, is: measures, w: 4, h: 2},
	breaker:     slot{kind: "state", title: "Switchgear", all: [][]string{{"breaker", "switch", "isolator", "disconnector", "xcbr", "feeder", "relay", "trip"}}, is: isState, most: 8, w: 12, h: 2},
	roomTemp:    slot{kind: "value", all: [][]string{{"room", "zone", "space", "temp", "temperature"}}, not: append([]string{"outdoor", "outside", "supply", "return", "setback"}, wantedNames...), units: temperatureUnits, is: measures, w: 3, h: 2},
	co2:         slot{kind: "value", all: [][]string{{"co2", "dioxide"}}, units: gasUnits, is: measures, w: 3, h: 2, high: 1000},
	humidity:    slot{kind: "value", all: [][]string{{"humidity", "rh", "moisture"}}, units: percentUnits, is: measures, w: 3, h: 2},

	allTemps:  slot{kind: "trend", title: "Temperatures", units: temperatureUnits, is: isNumber, most: 6, w: 8, h: 5, trend: "1d"},
	allPowers: slot{kind: "trend", title: "Power", units: powerUnits, is: measures, most: 6, w: 8, h: 5, trend: "1d"},
	states:    slot{kind: "state", title: "States", is: isState, most: 12, w: 4, h: 5},
}

// slots returns the template of a kind of equipment, in the order of its tiles.
func slots(kind string) []slot {
	t := &slotTable
	switch kind {
	case AirHandler:
		return []slot{t.supplyAir, t.setpoint, t.returnAir, t.outdoorAir, t.allTemps, t.states, t.fan, t.damper, t.filter}
	case Boiler:
		return []slot{t.supplyWater, t.returnWater, t.waterFlow, t.burner, t.allTemps, t.states, t.pressure, t.energy}
	case Meter:
		return []slot{t.power, t.energy, t.current, t.allPowers, t.states, t.voltage, t.frequency}
	case Feeder:
		return []slot{t.breaker, t.power, t.current, t.voltage, t.allPowers, t.states}
	case Room:
		return []slot{t.roomTemp, t.setpoint, t.co2, t.humidity, t.allTemps, t.states, t.damper}
	}
	return []slot{t.allTemps, t.allPowers, t.states}
}
