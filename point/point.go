// Package point defines the nouns of Voltbus: points, values, samples and blocks of samples. It imports nothing from the module;
// all other packages use its terms.
package point

import "time"

// Sample is the value of one point at one time.
type Sample struct {
	Point   Path
	Time    time.Time // when the device or the driver took it, UTC, to the microsecond
	Value   Value     // in the point's unit; the zero Value if there is none (bad quality)
	Quality Quality   // Good unless the device, the driver or the line states otherwise
}

// Info describes a point: what a person or program must know to use its values.
type Info struct {
	Path        Path
	Kind        Kind              // kind of its values; None if it varies
	Unit        string            // as written in the device's registry, such as "degC"; "" for none
	Description string            // for people; text from a device or registry, so untrusted
	Writable    bool              // whether commands may change it
	Device      Path              // the device it belongs to; "" for points that agents record
	Interval    time.Duration     // how often a sample is expected; 0 if unknown
	Tags        map[string]string // free labels, such as {"equip": "ahu"}
	Default     Value             // the value that reverts a writable point; the zero Value if unknown
	Min, Max    *float64          // limits of commanded values, in its unit; nil is open
}
