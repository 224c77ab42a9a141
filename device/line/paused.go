package line

import (
	"context"
	"slices"

	"voltbus/driver"
)

// pause keeps the line from receiving, if its driver can, until the returned function is called. u names
// it while the driver is busy.
func (c *connection) pause(u *Device) (resume func()) {
	link, can := c.link.(driver.Pauser)
	if !can {
		return func() {}
	}
	call := func(f func()) {
		_ = c.line.calls.guard(u, func() error { f(); return nil })
	}
	call(link.Pause)
	return func() { call(link.Resume) }
}

// openPaused opens, on a line that is paused, the sessions of all devices that report by themselves: they may
// share what is received, and what was acknowledged comes once. If the configuration changes meanwhile, it
// does so for those of the next one.
func (c *connection) openPaused(ctx context.Context) {
	for {
		if _, can := c.link.(driver.Pauser); !can {
			return
		}
		c.openAll(ctx)
		if ctx.Err() != nil || !slices.ContainsFunc(c.line.units, (*Device).isRetired) {
			return
		}
		c.line.box.await(ctx) // Apply is about to say who follows
		if wanted, fresh := c.line.box.takeWanted(); fresh {
			c.line.exchange(ctx, wanted)
		}
	}
}

// openAll opens what is not open, also devices that are only scanned: they may share what is received.
// Whoever cannot be opened now is tried again, and logged, as if alone.
func (c *connection) openAll(ctx context.Context) {
	for _, u := range c.line.units {
		if u.session == nil && u.isFree() {
			limited, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
			_ = c.admit(limited, u)
			cancel()
		}
	}
}

// admit opens a device's session. On a line that is paused it subscribes at once, if the device reports
// by itself.
func (c *connection) admit(ctx context.Context, u *Device) error {
	if err := c.open(ctx, u); err != nil {
		return err
	}
	if _, can := c.link.(driver.Pauser); !can || !u.listens {
		return nil
	}
	return c.line.listener.subscribeOpen(ctx, u)
}

// drain takes what all devices of a line have reported, before the line is closed. It leaves the line paused.
func (c *connection) drain(ctx context.Context) {
	if c.link == nil {
		return
	}
	c.pause(c.line.units[0])
	for _, u := range c.line.units {
		c.line.reports.takeLast(ctx, u)
	}
}
