package dnp3

import (
	"voltbus/driver"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
)

var _ driver.ReadOnly = (*Config)(nil)

// ReadOnly implements driver.ReadOnly: present values are read, and events stay on the device, see
// ReadOnlyMaster. The configuration must be loaded.
func (c *Config) ReadOnly() driver.Config {
	c.compile()
	only := *c
	only.readOnly = true
	if only.Scan != scanRanges {
		only.Scan = scanClass0
	}
	return &only
}

// ReadOnlyMaster returns the application layer of an association that does not interfere with the device's own
// master: it requests nothing on its own, enables, disables and clears nothing, and leaves unrequested events
// unconfirmed.
func (c *Config) ReadOnlyMaster() master.Config {
	return master.Config{
		Outstation: link.Address(c.Outstation), ResponseTimeout: c.Timeout, Retries: c.Retries,
		Tolerance: master.Tolerance(c.Tolerate), LeaveEvents: true,
	}
}
