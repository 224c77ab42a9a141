package line

import (
	"fmt"
	"sync/atomic"
	"time"

	"voltbus/device/clock"
	"voltbus/device/trouble"
	"voltbus/fault"
)

// calls makes the calls of a line's goroutine to its driver, one at a time. It turns a panic into an error, and shows other
// goroutines when the driver does not return.
type calls struct {
	line  string // its name
	clock *clock.Clock
	until atomic.Int64           // steady time after which the driver counts as hung; 0: not in the driver
	on    atomic.Pointer[Device] // the device in progress; nil for the line itself
}

// guard calls a driver, turns its panic into an error, and shows other goroutines when it hangs.
func (c *calls) guard(u *Device, call func() error) error {
	return c.guardUntil(u, c.clock.Now().Steady+hangAfter(u), call)
}

// use is guard for a call that does something to the device, which needs the right to do so.
func (c *calls) use(u *Device, call func() error) error {
	if err := u.cfg.Held(); err != nil {
		return trouble.Abandon(err)
	}
	return c.guard(u, call)
}

// guardUntil is guard for a call that counts as hung at a given time.
func (c *calls) guardUntil(u *Device, moment time.Duration, call func() error) (err error) {
	c.on.Store(u)
	c.until.Store(int64(moment))
	defer func() {
		c.until.Store(0)
		if value := recover(); value != nil {
			err = fault.E("device.call", fault.Internal, string(u.cfg.Path), trouble.NewCrash(value))
		}
	}()
	return call()
}

// nested runs do, which calls the driver from within a call of it, and then shows the outer call again.
func (c *calls) nested(do func()) {
	until, on := c.until.Load(), c.on.Load()
	do()
	c.on.Store(on)
	c.until.Store(until)
}

// running reports whether the line's goroutine is in a driver. It is safe for concurrent use.
func (c *calls) running() bool { return c.until.Load() != 0 }

// hangAfter returns how long a driver may take to return.
func hangAfter(u *Device) time.Duration { return 2 * u.cfg.Timeout }

// hung reports whether a call of the driver is overdue, and by how much. It is safe for concurrent use.
func (c *calls) hung(now clock.Instant) (time.Duration, bool) {
	since := time.Duration(c.until.Load())
	return now.Steady - since, since != 0 && now.Steady > since
}

// hungText describes this for people. It is safe for concurrent use.
func (c *calls) hungText(overdue time.Duration) string {
	subject := "the line"
	if u := c.on.Load(); u != nil {
		subject = string(u.cfg.Path)
		overdue += hangAfter(u)
	}
	return fmt.Sprintf("line %s stands still: its driver has been busy with %s for %v and does not return; "+
		"restart the node if it stays so", c.line, subject, overdue.Truncate(time.Second))
}
