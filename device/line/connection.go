package line

import (
	"context"
	"errors"
	"fmt"
	"time"

	"voltbus/device/acquisition"
	"voltbus/device/backoff"
	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// connection is the link of a line, with the sessions on it: it is dialled on demand, and rests after a loss.
type connection struct {
	line      *Line
	link      driver.Line
	proven    bool             // the link has answered since it was dialled
	down      error            // why there is no link
	redial    backoff.Attempts // delay between dials
	restUntil time.Duration    // no dial before
}

func (c *connection) isOpen(u *Device) bool { return u.session != nil && c.link != nil }

// reach dials the line and opens the device's session, unless they are open. On a new line the sessions of
// all devices that report on their own are opened before anything is received.
func (c *connection) reach(ctx context.Context, u *Device) error {
	if c.isOpen(u) {
		return nil
	}
	if !u.IsFree() {
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path),
			errors.New("its session under the previous configuration is still being closed"))
	}
	ctx, cancel := context.WithTimeout(ctx, u.cfg.Timeout)
	defer cancel()
	fresh := c.link == nil
	if fresh {
		if err := c.dial(ctx, u); err != nil {
			return err
		}
	}
	defer c.pause(u)()
	if fresh {
		c.openPaused(ctx)
	}
	switch {
	case c.isOpen(u):
		return nil
	case c.link == nil: // no device stayed
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path), errReplaced)
	}
	return c.admit(ctx, u)
}

// dial opens the line. Every error means that there is none.
func (c *connection) dial(ctx context.Context, u *Device) error {
	var link driver.Line
	err := c.line.calls.use(u, func() (err error) {
		link, err = u.cfg.Kind.Dial(ctx, u.cfg.Driver)
		return err
	})
	if err == nil && link == nil {
		err = fmt.Errorf("driver %s dialled nothing: this is a defect of the driver", c.line.Key.Kind)
	}
	if err != nil && !trouble.IsLineLost(err) && !trouble.IsCrash(err) {
		err = fault.E("device.dial", trouble.KindOf(err), c.line.Key.Name, fmt.Errorf("%w: %w", driver.ErrNotConnected, err))
	}
	if err == nil {
		c.link, c.proven = link, false
	}
	return err
}

// open begins the only session with the device.
func (c *connection) open(ctx context.Context, u *Device) error {
	if !u.claim() {
		return fault.E("device.open", fault.Unavailable, string(u.cfg.Path), errReplaced)
	}
	var session driver.Session
	err := c.line.calls.use(u, func() (err error) {
		session, err = c.link.Open(ctx, u.cfg.Driver)
		return err
	})
	if err == nil && session == nil {
		err = fmt.Errorf("driver %s opened nothing: this is a defect of the driver", c.line.Key.Kind)
	}
	if err != nil {
		u.release()
		return err
	}
	u.session = session
	c.line.listener.collect(ctx, u)
	return nil
}

// resting reports whether the line is lost and must not be dialled yet.
func (c *connection) resting(now clock.Instant) bool {
	return c.link == nil && now.Steady < c.restUntil
}

// untilDial returns the time of the next dial; 0 if the line is open.
func (c *connection) untilDial() time.Duration {
	if c.link != nil {
		return 0
	}
	return c.restUntil
}

// answered records that a device answered: the link works.
func (c *connection) answered() {
	c.proven, c.down = true, nil
	c.redial.Reset()
}

// forget allows dialling at once, as if the line had never been lost.
func (c *connection) forget() {
	c.redial.Reset()
	c.restUntil = 0
}

// lose closes a lost line. One that had worked may be dialled again at once: many devices close idle
// connections. Otherwise its devices are offline, and it rests.
func (c *connection) lose(ctx context.Context, err error) {
	now := c.line.clock.Now()
	c.drain(ctx)
	worked := c.proven
	c.hangUp(ctx)
	c.down = err
	if worked {
		c.restUntil = 0
		return
	}
	rest := c.redial.Next()
	c.restUntil = now.Steady + rest
	c.line.silences.endAll(c.line.units, func(u *Device, owed time.Time) {
		c.line.publisher.skip(u, owed, point.BadUnreachable, now)
	})
	for _, u := range c.line.units {
		u.mu.Lock()
		if u.state.Status != acquisition.Offline {
			u.blame(err, now)
			u.become(acquisition.Offline, now)
		}
		if u.cfg.Interval == 0 || u.listens { // others at their next slot
			c.line.publisher.emitBad(u, time.Time{}, point.BadUnreachable, now)
		}
		u.mu.Unlock()
	}
	c.line.trouble.loss(ctx, err, len(c.line.units), rest, now)
}

// hangUp takes the reports that all sessions hold, and closes the sessions and the line. Errors of closing no
// longer matter.
func (c *connection) hangUp(ctx context.Context) {
	c.drain(ctx)
	for _, u := range c.line.units {
		c.closeSession(u)
	}
	if c.link != nil {
		_ = c.line.calls.guard(c.line.units[0], c.link.Close)
	}
	c.link, c.proven = nil, false
}

// closeSession ends the session of one device, if it has one.
func (c *connection) closeSession(u *Device) {
	if u.session == nil {
		return
	}
	_ = c.line.calls.guard(u, u.session.Close)
	u.session, u.collects = nil, false
	if u.subscribed {
		u.subscribed = false
		c.line.listener.missing++
	}
	u.release()
}
