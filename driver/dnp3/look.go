package dnp3

import (
	"voltbus/driver"
	"voltbus/protocol/dnp3/link"
	"voltbus/protocol/dnp3/master"
)

var _ driver.Looker = (*Config)(nil)

// Look implements driver.Looker: present values are read, and events stay at the device, see
// LookConfig. The configuration must be loaded.
func (c *Config) Look() driver.Config {
	c.compile()
	look := *c
	look.look = true
	if look.Scan != scanRanges {
		look.Scan = scanClass0
	}
	return &look
}

// LookConfig returns the application layer of an association that takes nothing away from the device's own
// master: it asks for nothing by itself, enables, disables and clears nothing, and leaves events that are
// not asked for unconfirmed.
func (c *Config) LookConfig() master.Config {
	return master.Config{
		Outstation: link.Address(c.Outstation), ResponseTimeout: c.Timeout, Retries: c.Retries,
		Tolerance: master.Tolerance(c.Tolerate), LeaveEvents: true,
	}
}
