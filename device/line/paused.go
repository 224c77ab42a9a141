package line

import (
	"context"
	"slices"

	"voltbus/driver"
)

// pause stops the line from receiving, if its driver can, until the returned function is called. u is the
// device in progress meanwhile.
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

// openPaused opens, on a paused line, the sessions of all devices that report on their own: they may share
// what is received, and acknowledged reports come only once. If the configuration changes meanwhile, it
// continues with the devices of the new one.
func (c *connection) openPaused(ctx context.Context) {
	for {
		if _, can := c.link.(driver.Pauser); !can {
			return
		}
		c.openAll(ctx)
		if ctx.Err() != nil || !slices.ContainsFunc(c.line.units, (*Device).isRetired) {
			return
		}
		c.line.box.await(ctx) // Apply is about to set the next devices
		if wanted, fresh := c.line.box.takeWanted(); fresh {
			c.line.exchange(ctx, wanted)
		}
	}
}

// openAll opens all sessions that are not open, including those of devices that are only scanned: they may
// share what is received. One that cannot be opened now is retried, and logged, on its own.
func (c *connection) openAll(ctx context.Context) {
	for _, u := range c.line.units {
		if u.session == nil && u.IsFree() {
			limited, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
			_ = c.admit(limited, u)
			cancel()
		}
	}
}

// admit opens a device's session. On a paused line it subscribes at once if the device reports on its own.
func (c *connection) admit(ctx context.Context, u *Device) error {
	if err := c.open(ctx, u); err != nil {
		return err
	}
	if _, can := c.link.(driver.Pauser); !can || !u.listens {
		return nil
	}
	return c.line.listener.subscribeOpen(ctx, u)
}

// drain takes the reports of all devices of a line before the line is closed. It leaves the line paused.
func (c *connection) drain(ctx context.Context) {
	if c.link == nil {
		return
	}
	c.pause(c.line.units[0])
	for _, u := range c.line.units {
		c.line.reports.takeLast(ctx, u)
	}
}
