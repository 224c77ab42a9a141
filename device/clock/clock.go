// Package clock detects jumps of the wall clock by comparing it with monotonic time.
package clock

import (
	"sync/atomic"
	"time"
)

// Instant is one moment on both clocks.
type Instant struct {
	Wall   time.Time     // UTC; may jump
	Steady time.Duration // since the clock was created; never jumps
}

// Text formats, for people, the wall time of a moment of the steady clock: unlike a remaining duration, it
// stays true when read later.
func (n Instant) Text(steady time.Duration) string {
	return n.Wall.Add(steady - n.Steady).Format("2006-01-02 15:04:05 UTC")
}

// Clock compares the wall clock with the time that has actually passed. It is safe for concurrent use: the
// first reader after a jump detects it for all.
type Clock struct {
	base  time.Time                     // with its monotonic reading
	start time.Time                     // the same moment on the wall clock
	Wall  func(now time.Time) time.Time // the wall clock at the moment of a time.Now; tests replace it before use
	jump  time.Duration

	shift atomic.Int64  // accepted deviation of the wall clock from the steady one
	Backs atomic.Uint64 // detected jumps back
	Jumps atomic.Uint64 // all jumps
}

// New returns a clock that treats a change of the wall clock by more than jump as a jump.
func New(jump time.Duration) *Clock {
	now := time.Now()
	return &Clock{base: now, start: OnWall(now), Wall: OnWall, jump: jump}
}

// OnWall drops the monotonic reading, so that times compare by the wall clock.
func OnWall(now time.Time) time.Time { return now.UTC().Truncate(time.Microsecond) }

// Now reads both clocks, and counts a jump if there was one.
func (c *Clock) Now() Instant {
	accepted := c.shift.Load() // read before the time: a later shift belongs to a later time
	t := time.Now()
	n := Instant{Wall: c.Wall(t), Steady: t.Sub(c.base)}
	delta := c.shiftAt(n) - time.Duration(accepted)
	if delta.Abs() > c.jump && c.shift.CompareAndSwap(accepted, accepted+int64(delta)) {
		if delta < 0 {
			c.Backs.Add(1)
		}
		c.Jumps.Add(1)
	}
	return n
}

// Follow reads both clocks and accepts a slow drift, which must not add up to a jump.
func (c *Clock) Follow() Instant {
	accepted := c.shift.Load()
	n := c.Now()
	if shift := c.shiftAt(n); (shift - time.Duration(accepted)).Abs() <= c.jump {
		c.shift.CompareAndSwap(accepted, int64(shift))
	}
	return n
}

func (c *Clock) shiftAt(n Instant) time.Duration { return n.Wall.Sub(c.start) - n.Steady }
