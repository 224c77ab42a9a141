package device

import (
	"sync/atomic"
	"time"
)

// instant is one moment on both clocks.
type instant struct {
	wall   time.Time     // UTC; may jump
	steady time.Duration // since the clock was made; never jumps
}

// text returns the moment at which the steady clock shows what is given, for people: unlike how long it takes
// until then, that stays true of a text that is read later.
func (n instant) text(steady time.Duration) string {
	return n.wall.Add(steady - n.steady).Format("2006-01-02 15:04:05 UTC")
}

// clock compares the wall clock with the time that has really passed. It is safe for concurrent
// use: whoever reads it first after a jump notices it for all.
type clock struct {
	base  time.Time                     // with its monotonic reading
	start time.Time                     // the same moment on the wall
	wall  func(now time.Time) time.Time // the wall clock at the moment of a time.Now
	jump  time.Duration

	shift atomic.Int64  // how far the wall clock has left the steady one, as far as accepted
	backs atomic.Uint64 // jumps back
	jumps atomic.Uint64 // all jumps
}

func newClock(jump time.Duration) *clock {
	now := time.Now()
	return &clock{base: now, start: onWall(now), wall: onWall, jump: jump}
}

// onWall drops the monotonic reading, so that times are compared as the wall clock shows them.
func onWall(now time.Time) time.Time { return now.UTC().Truncate(time.Microsecond) }

// now reads both clocks, and counts a jump if there was one.
func (c *clock) now() instant {
	accepted := c.shift.Load() // before the time is read: a later shift belongs to a later time
	t := time.Now()
	n := instant{wall: c.wall(t), steady: t.Sub(c.base)}
	delta := c.shiftAt(n) - time.Duration(accepted)
	if delta.Abs() > c.jump && c.shift.CompareAndSwap(accepted, accepted+int64(delta)) {
		if delta < 0 {
			c.backs.Add(1)
		}
		c.jumps.Add(1)
	}
	return n
}

// follow reads both clocks and accepts a slow drift, which must not add up to a jump.
func (c *clock) follow() instant {
	accepted := c.shift.Load()
	n := c.now()
	if shift := c.shiftAt(n); (shift - time.Duration(accepted)).Abs() <= c.jump {
		c.shift.CompareAndSwap(accepted, int64(shift))
	}
	return n
}

func (c *clock) shiftAt(n instant) time.Duration { return n.wall.Sub(c.start) - n.steady }
