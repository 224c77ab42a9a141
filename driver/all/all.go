// Package all lists the drivers: the only place that imports them all.
package all

import (
	"voltbus/driver"
	"voltbus/driver/bacnet"
	"voltbus/driver/dnp3"
	"voltbus/driver/modbus/sunspecmap"
	"voltbus/driver/mqtt"
	"voltbus/driver/opcua"
	"voltbus/driver/sim"
)

// Kinds returns the drivers in the order of their names. The caller owns the slice.
func Kinds() []driver.Kind {
	return []driver.Kind{bacnet.Kind(), dnp3.Kind(), sunspecmap.Kind(), mqtt.Kind(), opcua.Kind(), sim.Kind()}
}
