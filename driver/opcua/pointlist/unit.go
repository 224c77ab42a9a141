package pointlist

import (
	"strings"

	"github.com/gopcua/opcua/ua"
)

// unitCodes are the units of points by their code of UN/ECE Recommendation 20.
var unitCodes = map[string]string{ //nolint:gochecknoglobals // a table
	"CEL": "degC", "FAH": "degF", "KEL": "K", "P1": "%", "C62": "",
	"WTT": "W", "KWT": "kW", "MAW": "MW", "WHR": "Wh", "KWH": "kWh", "MWH": "MWh", "VAR": "var", "KVR": "kvar", "KVA": "kVA", "D46": "VA",
	"VLT": "V", "KVT": "kV", "2Z": "mV", "AMP": "A", "4K": "mA", "HTZ": "Hz", "OHM": "Ohm",
	"PAL": "Pa", "KPA": "kPa", "BAR": "bar", "MBR": "mbar", "LTR": "L", "MTQ": "m3", "MQH": "m3/h", "L2": "L/min", "G51": "L/s",
	"MTR": "m", "MMT": "mm", "CMT": "cm", "MTS": "m/s", "KMH": "km/h", "KGM": "kg", "KGS": "kg/s", "E93": "kg/h", "TNE": "t",
	"SEC": "s", "MIN": "min", "HUR": "h", "DAY": "d", "C26": "ms", "RPM": "rpm", "JOU": "J", "KJO": "kJ", "MJ": "MJ", "GV": "GJ", "LUX": "lx", "59": "ppm", "DD": "deg",
}

// unitWords are other ways to write units.
var unitWords = map[string]string{ //nolint:gochecknoglobals // a table
	"°c": "degC", "°f": "degF", "℃": "degC", "celsius": "degC", "degrees celsius": "degC", "fahrenheit": "degF", "percent": "%", "m³": "m3", "m³/h": "m3/h", "l": "L", "l/min": "L/min", "r/min": "rpm",
}

// UnitOf returns a unit as points of a node have it: °C becomes degC; anything else stays.
func UnitOf(text string) string {
	if unit, known := unitWords[strings.ToLower(strings.TrimSpace(text))]; known {
		return unit
	}
	return text
}

// UnitText returns an engineering unit of OPC UA (Part 8, clause 5.6.4.3) as points of a node have it.
func UnitText(u *ua.EUInformation) string {
	if u.UnitID > 0 && strings.Contains(u.NamespaceURI, "opcfoundation.org") {
		var code []byte
		for n := u.UnitID; n > 0; n >>= 8 {
			code = append([]byte{byte(n)}, code...)
		}
		if unit, known := unitCodes[string(code)]; known {
			return unit
		}
	}
	if u.DisplayName == nil {
		return ""
	}
	return UnitOf(u.DisplayName.Text)
}
