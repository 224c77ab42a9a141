package lease

import (
	"time"

	"golang.org/x/sys/unix"
)

// steadyClock returns a clock that also counts while the machine is suspended, which that of package time does not.
func steadyClock() func() time.Duration {
	begin := time.Now()
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &t); err != nil { // no Linux since 2.6.39
			return time.Since(begin)
		}
		return time.Duration(t.Nano())
	}
}
