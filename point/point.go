// Package point defines the nouns of Voltbus: points, values, samples and blocks of samples. It imports nothing of the module, and
// everything else speaks in its terms.
package point

import "time"

// Sample is the value of one point at one time.
type Sample struct {
	Point   Path
	Time    time.Time // when the device or the driver took it, UTC, microseconds count
	Value   Value     // in the point's unit; the zero Value if there is none (bad quality)
	Quality Quality   // Good unless the device, the driver or the line says otherwise
}

// Info describes a point: what a person or a program must know to use its values.
type Info struct {
	Path        Path
	Kind        Kind              // what its values are; None if it varies
	Unit        string            // as the device's registry writes it, such as "degC"; "" for none
	Description string            // for people; text from a device or registry, so hostile
	Writable    bool              // whether commands may change it
	Device      Path              // the device it belongs to; "" for points that agents record
	Interval    time.Duration     // how often a sample is expected; 0 if unknown
	Tags        map[string]string // free labels, such as {"equip": "ahu"}
	Default     Value             // what puts a writable point back; the zero Value if nothing is known
	Min, Max    *float64          // what may be commanded, in its unit; nil is open
}
