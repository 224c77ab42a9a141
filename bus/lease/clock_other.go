//go:build !linux

package lease

import "time"

// steadyClock returns a clock that counts from now on.
func steadyClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }
}
