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
	// Path is the device's place, such as campus/building/boiler. Its points lie below it.
	Path point.Path `yaml:"path" example:"campus/building/boiler"`
	// Driver is the name of the driver, such as modbus or sim.
	Driver string `yaml:"driver" example:"modbus"`
	// Interval is the time between two scans, which start at its multiples: 15m means a
	// quarter past, half past, and so on. At least 100ms, or 0 with subscribe: then the device
	// is never asked, only heard.
	Interval time.Duration `yaml:"interval" example:"10s"`
	// Offset moves the scans away from the multiples of the interval, to later.
	Offset time.Duration `yaml:"offset" example:"2s"`
	// ReadAtStart reads the device once when the node starts, without waiting for its time.
	ReadAtStart bool `yaml:"read_at_start"`
	// Subscribe takes what the device reports by itself, such as changes of value, if its
	// driver can.
	Subscribe bool `yaml:"subscribe"`
	// Group names devices that are scanned together.
	Group string `yaml:"group" example:"meters"`
	// Stagger spreads the scans of a group evenly over this time, to spare the network. All
	// devices of the group have the same.
	Stagger time.Duration `yaml:"stagger" example:"5s"`
	// Timeout is the most that a scan may take.
	Timeout time.Duration `yaml:"timeout" example:"10s"`
	// StaleAfter is how long the last readings count as good without a new one. 0 for three
	// intervals.
	StaleAfter time.Duration `yaml:"stale_after" example:"30s"`
	// Publish says in which forms readings appear on the bus: scan for one message with all
	// points, point for a message each; breadth_scan and breadth_point for the same under subjects
	// that begin with the last segment of the path. An empty list for none. live.publish if left out.
	// What is recorded does not depend on it.
	Publish []string `yaml:"publish" enum:"scan,point,breadth_scan,breadth_point" example:"[scan, point]"`
	// Record says whether readings are kept.
	Record bool `yaml:"record"`
	// Control says what the writable points of the device demand of commands, and what they go back
	// to. The last entry that names a point counts for it.
	Control []ControlRule `yaml:"control"`
	// Disabled keeps the device in the configuration without reading it.
	Disabled bool `yaml:"disabled"`
	// Tags are free labels of all points of the device.
	Tags map[string]string `yaml:"tags" example:"{equip: boiler}"`

	// Config is what the driver needs, checked and with its files loaded.
	Config driver.Config `yaml:"-"`
	// Source is where the device is described.
	Source Source `yaml:"-"`
}

// Entry is a device as it stands in a file: with what the driver decodes, and repetition.
type Entry struct {
	Device `yaml:",inline"`
	// Count repeats the device, to describe many that are alike: {n} stands for the number of
	// the device in every text of it, {n+1000} for 1000 more, {n:03} for three digits. 0 for a
	// single device.
	Count int `yaml:"count" example:"100"`
	// Start is the number of the first of the repeated devices.
	Start int `yaml:"start" example:"1"`
	// Config is what the driver needs, such as an address: see the driver's own keys.
	Config yaml.Node `yaml:"config"`
}

// Source is a place in a file.
type Source struct {
	File string
	Line int    // of the device's first line
	Key  string // path of the key, such as "devices.boiler"
}

// NewEntry returns an entry with the defaults.
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
