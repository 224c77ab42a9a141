// Package backoff computes growing delays: between connection attempts, and between repeated log messages.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Attempts is the growing distance between attempts, jittered so that many lines which were lost
// together do not come back together.
type Attempts struct {
	First, Most time.Duration
	tries       int
}

// Next returns how long to wait now: between half and all of First·2ⁿ, at most Most.
func (b *Attempts) Next() time.Duration {
	distance := b.Most
	if b.tries < 62 && b.First <= b.Most>>b.tries {
		distance = b.First << b.tries
		b.tries++
	}
	return distance/2 + rand.N(distance/2+1)
}

// Reset begins again with the first distance.
func (b *Attempts) Reset() { b.tries = 0 }

// Messages decides which of many equal messages are logged: the first, the second, the fourth …
// It starts again after an hour of quiet.
type Messages struct {
	Count uint64 // of the messages, logged or not, since the last quiet
	last  time.Duration
}

const quiet = time.Hour

// Due counts a message at a steady moment, and reports whether it is to be logged.
func (d *Messages) Due(now time.Duration) bool {
	if now-d.last > quiet {
		d.Count = 0
	}
	d.last = now
	d.Count++
	return d.Count&(d.Count-1) == 0
}
