// Package acquisition describes data acquisition: the configuration of each device, the limits for all, the destination of scans, and
// the state of each device.
package acquisition

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"voltbus/device/schedule"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// Forms are the forms in which the samples of a device are published. Zero means none.
type Forms uint8

// The forms of live messages.
const (
	FormScan         Forms = 1 << iota // one message with all samples of a scan
	FormPoint                          // one message for each sample
	FormBreadthScan                    // as FormScan, under a path that begins with its last segment
	FormBreadthPoint                   // as FormPoint, under a path that begins with its last segment
)

// Has reports whether all of the given forms are set.
func (f Forms) Has(forms Forms) bool { return f&forms == forms }

// Config tells how one device is read. The driver's part must not be modified after it was passed to the owner of
// the devices.
type Config struct {
	Path   point.Path    // the path of its points; unique
	Kind   driver.Kind   // the driver
	Driver driver.Config // loaded and validated

	Interval time.Duration // between two reads; 0 with Subscribe: never read, only subscribed to
	Offset   time.Duration // added to every slot; equal offsets move a group as a whole
	Group    string        // devices of one group are spread over Stagger

	// Stagger is the period over which the devices of a group are spread evenly, in the order in which they
	// were first applied. A device keeps its place while others come and go: each new place halves the widest
	// gap, so the spread is even to within a factor of two for any number of devices.
	Stagger time.Duration

	Timeout     time.Duration // for one read or write of the device; 0: 10 s
	StaleAfter  time.Duration // time without a scan until bad(stale); 0: three intervals, or never without an interval
	Publish     Forms         // forms of live messages
	Record      bool          // whether samples are recorded
	ReadAtStart bool          // read once when the device joins, without waiting for its slot
	Subscribe   bool          // accept reports that the device sends on its own
	Disabled    bool          // configured, but neither opened nor read

	// Elsewhere is set if another replica of this node may use the device at the moment, and Owner is its name, "" for nobody: the device
	// is then neither opened nor read here.
	Elsewhere bool
	Owner     string
	// Hold ends when this replica may no longer use the device, without notice; nil: it always may.
	Hold context.Context //nolint:containedctx // it is a right, not a request
}

// Bounds of a configuration.
const (
	defaultTimeout = 10 * time.Second
	shortest       = time.Millisecond // between two reads
)

// LineName returns the name of the device's line: its path if the driver gives no name.
func (c Config) LineName() string {
	if name := c.Driver.LineName(); name != "" {
		return name
	}
	return string(c.Path)
}

func (c Config) withDefaults() Config {
	if c.Timeout <= 0 {
		c.Timeout = defaultTimeout
	}
	if c.StaleAfter <= 0 {
		c.StaleAfter = 3 * c.Interval
	}
	return c
}

// problem returns what is wrong with the configuration, or nil.
func (c Config) problem() error {
	switch {
	case c.Path.Validate() != nil:
		return c.Path.Validate()
	case c.Kind.Dial == nil || c.Driver == nil:
		return errors.New("a device needs a driver and its configuration")
	case c.Interval == 0 && c.Subscribe:
		return nil
	case c.Interval < shortest:
		return fmt.Errorf("interval is %v; write %v or more", c.Interval, shortest)
	case c.Stagger < 0:
		return fmt.Errorf("stagger is %v; write a period of 0 or more", c.Stagger)
	}
	return nil
}

var errNotHeld = errors.New("another replica may use it now; ask again, and that one is asked")

// Held returns why this replica may no longer use the device; nil while it may.
func (c *Config) Held() error {
	if c.Hold == nil || c.Hold.Err() == nil {
		return nil
	}
	return fault.E("device.call", fault.Unavailable, string(c.Path), errNotHeld)
}

// Same reports whether a change from one configuration to the other needs no restart of the device.
func (c Config) Same(other Config) bool {
	if c.Kind.Name != other.Kind.Name || !reflect.DeepEqual(c.Driver, other.Driver) {
		return false
	}
	return c.plain() == other.plain()
}

// plain is a Config without the fields that cannot be compared with ==.
type plain struct {
	path                                      point.Path
	group                                     string
	interval, offset, stagger, timeout, stale time.Duration
	publish                                   Forms
	record, readAtStart, subscribe, disabled  bool
	elsewhere                                 bool
	owner                                     string
	hold                                      context.Context //nolint:containedctx // as in Config
}

func (c Config) plain() plain {
	return plain{
		path: c.Path, group: c.Group,
		interval: c.Interval, offset: c.Offset, stagger: c.Stagger, timeout: c.Timeout, stale: c.StaleAfter,
		publish: c.Publish, record: c.Record, readAtStart: c.ReadAtStart,
		subscribe: c.Subscribe, disabled: c.Disabled,
		elsewhere: c.Elsewhere, owner: c.Owner, hold: c.Hold,
	}
}

// Check returns all configurations with defaults filled in, or every problem at once.
func Check(devices []Config) ([]Config, error) {
	var problems []error
	seen := make(map[point.Path]bool, len(devices))
	checked := make([]Config, len(devices))
	for i, c := range devices {
		err := c.problem()
		if err == nil && seen[c.Path] {
			err = errors.New("two devices have this path; give one of them another")
		}
		if err != nil {
			problems = append(problems, fault.E("device.Apply", fault.Invalid, string(c.Path), err))
		}
		seen[c.Path] = true
		checked[i] = c.withDefaults()
	}
	return checked, errors.Join(problems...)
}

// Schedule returns the slots of a device at the given place in its group.
func (c Config) Schedule(place int) schedule.Schedule {
	return schedule.New(c.Interval, c.Offset+schedule.Spread(place, c.Stagger))
}

// Members returns the groups of the devices.
func Members(devices []Config) []schedule.Member {
	of := make([]schedule.Member, len(devices))
	for i, c := range devices {
		of[i] = schedule.Member{Path: c.Path, Group: c.Group}
	}
	return of
}
