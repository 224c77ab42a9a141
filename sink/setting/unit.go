package setting

import "slices"

// scale turns a value into the base unit of its quantity: base = value·factor + offset.
type scale struct {
	quantity       string
	factor, offset float64
}

// scales are the units that can be converted into each other, within a quantity (SI brochure, 9th edition, tables 2, 4 and 8, and
// NIST SP 811, appendix B).
var scales = map[string]scale{ //nolint:gochecknoglobals // a table
	"K": {"temperature", 1, 0}, "degC": {"temperature", 1, 273.15}, "degF": {"temperature", 5.0 / 9, 459.67 * 5 / 9},
	"W": {"power", 1, 0}, "kW": {"power", 1e3, 0}, "MW": {"power", 1e6, 0},
	"Wh": {"energy", 3600, 0}, "kWh": {"energy", 3.6e6, 0}, "MWh": {"energy", 3.6e9, 0}, "J": {"energy", 1, 0}, "kJ": {"energy", 1e3, 0}, "MJ": {"energy", 1e6, 0}, "GJ": {"energy", 1e9, 0},
	"V": {"voltage", 1, 0}, "kV": {"voltage", 1e3, 0}, "mV": {"voltage", 1e-3, 0},
	"A": {"current", 1, 0}, "kA": {"current", 1e3, 0}, "mA": {"current", 1e-3, 0},
	"Pa": {"pressure", 1, 0}, "hPa": {"pressure", 100, 0}, "kPa": {"pressure", 1e3, 0}, "bar": {"pressure", 1e5, 0}, "mbar": {"pressure", 100, 0}, "psi": {"pressure", 6894.757293168, 0},
	"m3/h": {"flow", 1.0 / 3600, 0}, "m3/s": {"flow", 1, 0}, "l/s": {"flow", 1e-3, 0}, "l/min": {"flow", 1e-3 / 60, 0}, "l/h": {"flow", 1e-3 / 3600, 0},
	"s": {"time", 1, 0}, "ms": {"time", 1e-3, 0}, "min": {"time", 60, 0}, "h": {"time", 3600, 0},
	"m": {"length", 1, 0}, "mm": {"length", 1e-3, 0}, "km": {"length", 1e3, 0},
	"m/s": {"speed", 1, 0}, "km/h": {"speed", 1 / 3.6, 0},
	"m3": {"volume", 1, 0}, "l": {"volume", 1e-3, 0},
}

// Conversion returns what turns a value in one unit into a value in another: value·factor + offset. It is false if the two measure
// different quantities, or one is not known.
func Conversion(from, to string) (factor, offset float64, ok bool) {
	a, known := scales[from]
	b, also := scales[to]
	if !known || !also || a.quantity != b.quantity {
		return 0, 0, false
	}
	return a.factor / b.factor, (a.offset - b.offset) / b.factor, true
}

// convertible returns the units that a unit can be converted to, sorted; none if it is not known.
func convertible(from string) (list []string) {
	s, known := scales[from]
	for name, other := range scales {
		if known && name != from && other.quantity == s.quantity {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}
