package bacnet

import (
	"strings"

	"voltbus/api/answer"
	"voltbus/protocol/bacnet/enum"
)

// ownUnitTable names units of the standard that a node writes in another way than by their symbol.
var ownUnitTable = map[string]string{
	"degC": "degrees-celsius", "degF": "degrees-fahrenheit", "": "no-units", "1": "no-units", "deg": "degrees-angular", "Ohm": "ohms",
	"1/s": "per-second", "1/min": "per-minute", "1/h": "per-hour", "gal": "us-gallons",
}

// writingTable turns what a keyboard has into the symbols of the standard.
var writingTable = strings.NewReplacer("m2", "m²", "m3", "m³", "ft2", "ft²", "ft3", "ft³", "l/", "L/", "ug", "µg")

// unitOf returns the unit of an object: no-units for one that the standard does not have.
func unitOf(p *Point, known *answer.Point) enum.Unit {
	name := p.Unit
	if name == "" && known != nil {
		name = known.Unit
	}
	if own, is := ownUnitTable[name]; is {
		name = own
	}
	for _, text := range []string{name, writingTable.Replace(name)} {
		if u, is := enum.ParseUnit(text); is {
			return u
		}
	}
	return enum.UnitNoUnits
}
