package bacnet

import (
	"testing"

	"voltbus/api/answer"
)

func TestUnitsOfANodeAreThoseOfTheStandard(t *testing.T) {
	for unit, want := range map[string]string{
		"degC": "degrees-celsius", "K": "degrees-kelvin", "%": "percent", "kW": "kilowatts", "kWh": "kilowatt-hours", "kvar": "kilovolt-amperes-reactive",
		"V": "volts", "A": "amperes", "Hz": "hertz", "Pa": "pascals", "ppm": "parts-per-million", "L/s": "liters-per-second", "l/s": "liters-per-second",
		"m3/h": "cubic-meters-per-hour", "m3": "cubic-meters", "W/m2": "watts-per-square-meter", "m2": "square-meters", "ug/m3": "micrograms-per-cubic-meter",
		"deg": "degrees-angular", "1/min": "per-minute", "": "no-units", "furlong": "no-units",
	} {
		if got := unitOf(&Point{}, &answer.Point{Unit: unit}); got.String() != want {
			t.Errorf("%q is %v, want %s", unit, got, want)
		}
	}
	if got := unitOf(&Point{Unit: "kilopascals"}, &answer.Point{Unit: "Pa"}); got.String() != "kilopascals" {
		t.Errorf("the unit of the mapping is %v", got)
	}
}
