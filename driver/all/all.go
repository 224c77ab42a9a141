// Package all is the list of the drivers: the only place that imports them all.
package all

import (
	"voltbus/driver"
	"voltbus/driver/modbus"
	"voltbus/driver/sim"
)

// Kinds returns the drivers by the name that stands as "driver:" in the configuration. The map
// belongs to the caller.
func Kinds() map[string]driver.Kind {
	kinds := make(map[string]driver.Kind)
	for _, k := range []driver.Kind{modbus.Kind(), sim.Kind()} {
		kinds[k.Name] = k
	}
	return kinds
}
