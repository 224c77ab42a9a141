package control

import "time"

// Instant is a moment on two clocks. Both are given by the caller.
type Instant struct {
	Wall   time.Time     // may jump
	Steady time.Duration // since any fixed moment; never goes back, and stands still while the node is down
}

// At returns the wall time corresponding to a moment of the steady clock, if the wall clock does not jump
// until then.
func (n Instant) At(steady time.Duration) time.Time {
	return n.Wall.Add(steady - n.Steady).UTC()
}

// Ago returns the steady moment of a time in the past, 0 for the zero time. Times before the start of this
// clock count as its start, so minimum times may last longer after a restart, but never shorter.
func (n Instant) Ago(t time.Time) time.Duration {
	if t.IsZero() {
		return 0
	}
	return max(n.Steady-max(n.Wall.Sub(t), 0), 1)
}

// EndOf returns the steady moment at which something ends that was to last until a wall time.
func (n Instant) EndOf(length time.Duration, until time.Time) time.Duration {
	return max(n.Steady+max(min(until.Sub(n.Wall), length), 0), 1)
}

// ClockText formats a time for people.
func ClockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }
