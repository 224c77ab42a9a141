package sender

import (
	"sync"
	"time"
)

// limit spreads bytes over time. Sending may exceed the rate for a moment; the sender then waits until it is
// paid off.
type limit struct {
	rate int64 // bytes per second; 0 for no limit

	mu   sync.Mutex
	paid time.Time // when everything sent is paid off
}

// spend records bytes, and returns how long to send nothing more.
func (l *limit) spend(octets int, now time.Time) time.Duration {
	if l.rate <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.paid.Before(now) {
		l.paid = now
	}
	l.paid = l.paid.Add(time.Duration(float64(octets) / float64(l.rate) * float64(time.Second)))
	return l.paid.Sub(now)
}
