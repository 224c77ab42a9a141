package device

import (
	"math/rand/v2"
	"time"
)

// backoff is the growing distance between attempts, jittered so that many lines which were lost
// together do not come back together.
type backoff struct {
	first, most time.Duration
	tries       int
}

// next returns how long to wait now: between half and all of first·2ⁿ, at most most.
func (b *backoff) next() time.Duration {
	distance := b.most
	if b.tries < 62 && b.first <= b.most>>b.tries {
		distance = b.first << b.tries
		b.tries++
	}
	return distance/2 + rand.N(distance/2+1)
}

func (b *backoff) reset() { b.tries = 0 }

// doubling decides which of many equal messages are logged: the first, the second, the fourth …
// It starts again after an hour of quiet.
type doubling struct {
	count uint64
	last  time.Duration
}

const quiet = time.Hour

func (d *doubling) due(now time.Duration) bool {
	if now-d.last > quiet {
		d.count = 0
	}
	d.last = now
	d.count++
	return d.count&(d.count-1) == 0
}
