package control

import "time"

// Instant is a moment on two clocks. Both are given by the caller.
type Instant struct {
	Wall   time.Time     // may jump
	Steady time.Duration // since any fixed moment; never goes back, and stands still while the node is down
}

// at returns the wall time that a moment of the steady clock will have, if the wall clock does not
// jump until then.
func (n Instant) at(steady time.Duration) time.Time {
	return n.Wall.Add(steady - n.Steady).UTC()
}
