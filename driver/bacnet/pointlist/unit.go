package pointlist

import (
	"strconv"
	"strings"
	"sync"

	"voltbus/protocol/bacnet/enum"
)

// plainUnits are those that a node writes in another way than by their symbol.
var plainUnits = map[enum.Unit]string{
	enum.UnitDegreesCelsius: "degC", enum.UnitDegreesFahrenheit: "degF", enum.UnitDegreesKelvin: "K", enum.UnitNoUnits: "",
}

// UnitText returns an engineering unit of BACnet as points of a node have it: degC, %, kW. A unit without a symbol
// keeps the standard's name, one of a vendor its number.
func UnitText(u enum.Unit) string {
	if text, plain := plainUnits[u]; plain {
		return text
	}
	if symbol := u.Symbol(); symbol != "" {
		return symbol
	}
	return u.String()
}

// units are the standard's names, without hyphens.
var units = sync.OnceValue(func() map[string]enum.Unit {
	const last = 65535
	byName := make(map[string]enum.Unit)
	for u := range enum.Unit(last) {
		if name := u.String(); name != strconv.Itoa(int(u)) {
			byName[strings.ReplaceAll(name, "-", "")] = u
		}
	}
	return byName
})

// UnitOf returns the unit of a registry as points of a node have it: a name of the standard, such as degreesCelsius
// or degrees-celsius, becomes degC; anything else stays.
func UnitOf(text string) string {
	if u, known := units()[strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(text))]; known && len(text) > 3 {
		return UnitText(u)
	}
	return text
}
