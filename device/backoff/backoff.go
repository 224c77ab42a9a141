// Package backoff computes growing delays: between connection attempts, and between repeated log messages.
package backoff

import (
	"math/rand/v2"
	"time"
)

// Attempts is the growing delay between attempts, jittered so that many lines lost together do not come back
// together.
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

// Reset starts over with the first delay.
func (b *Attempts) Reset() { b.tries = 0 }

// Messages decides which of many equal messages to log: the first, the second, the fourth … It starts over
// after an hour without any.
type Messages struct {
	Count uint64 // messages, logged or not, since the last quiet hour
	last  time.Duration
}

const quiet = time.Hour

// Due counts a message at a steady moment, and reports whether to log it.
func (d *Messages) Due(now time.Duration) bool {
	if now-d.last > quiet {
		d.Count = 0
	}
	d.last = now
	d.Count++
	return d.Count&(d.Count-1) == 0
}
