package config

import (
	"time"

	"go.yaml.in/yaml/v3"

	"voltbus/driver"
	"voltbus/point"
)

// The forms in which a device's readings appear on the bus.
const (
	PublishScan         = "scan"          // one message with all points of a scan
	PublishPoint        = "point"         // one message for each point
	PublishBreadthScan  = "breadth_scan"  // scan, under the path in reverse order
	PublishBreadthPoint = "breadth_point" // point, under the path in reverse order
)

// Device is one device: where it stands, which driver reads it and how often.
type Device struct {
	// Path is the device's path, such as campus/building/boiler. Its points are below it.
	Path point.Path `yaml:"path" example:"campus/building/boiler"`
	// Driver is the name of the driver, such as modbus or sim.
	Driver string `yaml:"driver" example:"modbus"`
	// Interval is the time between two scans, which start at its multiples: 15m means a quarter past, half past, and so
	// on. At least 100ms, or 0 with subscribe: then the device is not polled, and only reports.
	Interval time.Duration `yaml:"interval" example:"10s"`
	// Offset delays the scans after the multiples of the interval.
	Offset time.Duration `yaml:"offset" example:"2s"`
	// ReadAtStart reads the device once when the node starts, without waiting for its slot.
	ReadAtStart bool `yaml:"read_at_start"`
	// Subscribe accepts reports that the device sends by itself, such as changes of value (COV), if its driver supports
	// this.
	Subscribe bool `yaml:"subscribe"`
	// Group names devices that are scanned together.
	Group string `yaml:"group" example:"meters"`
	// Stagger spreads the scans of a group evenly over this time, to limit the load of the network. All devices of the
	// group must have the same value.
	Stagger time.Duration `yaml:"stagger" example:"5s"`
	// Timeout is the maximum duration of a scan.
	Timeout time.Duration `yaml:"timeout" example:"10s"`
	// StaleAfter is how long the last readings stay good without a new one. 0: three intervals.
	StaleAfter time.Duration `yaml:"stale_after" example:"30s"`
	// Publish says in which forms readings appear on the bus: scan for one message with all points, point for a message
	// each; breadth_scan and breadth_point for the same under subjects that begin with the last segment of the path. An
	// empty list: none. Default: live.publish. Recording does not depend on it.
	Publish []string `yaml:"publish" enum:"scan,point,breadth_scan,breadth_point" example:"[scan, point]"`
	// Record sets whether readings are recorded.
	Record bool `yaml:"record"`
	// Control sets the rules for commands to the device's writable points, and what they revert to. For each point the
	// last matching entry applies.
	Control []ControlRule `yaml:"control"`
	// Disabled keeps the device in the configuration without reading it.
	Disabled bool `yaml:"disabled"`
	// Tags are free labels of all points of the device.
	Tags map[string]string `yaml:"tags" example:"{equip: boiler}"`

	// Config is the driver's configuration, checked and with its files loaded.
	Config driver.Config `yaml:"-"`
	// Source is where the device is described.
	Source Source `yaml:"-"`
}

// Entry is a device as written in a file, including the part that the driver decodes, and repetition.
type Entry struct {
	Device `yaml:",inline"`
	// Count repeats the device, to describe many similar ones: {n} stands for the number of the device in every text of
	// it, {n+1000} for 1000 more, {n:03} for three digits. 0: a single device.
	Count int `yaml:"count" example:"100"`
	// Start is the number of the first of the repeated devices.
	Start int `yaml:"start" example:"1"`
	// Config has the keys of the driver, such as an address: see the sections of the drivers.
	Config yaml.Node `yaml:"config"`
}

// Source is a place in a file.
type Source struct {
	File string
	Line int    // the device's first line
	Key  string // path of the key, such as "devices.boiler"
}

// NewEntry returns an entry with defaults.
func NewEntry() Entry {
	return Entry{
		Device: Device{
			Interval:    time.Minute,
			ReadAtStart: true,
			Timeout:     10 * time.Second,
			Publish:     []string{PublishScan},
			Record:      true,
		},
		Start: 1,
	}
}
