// Package memory sets the trade-off between memory and speed of the Go runtime.
package memory

import (
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// collectAt is how much the heap may grow between two collections, in per cent of live memory. A node
// allocates much and keeps little, so four times its live heap is still small.
const collectAt = 300

// Tune lets the heap grow before it is collected, and makes the collector work harder when the
// process uses half of the machine's memory. The environment variables GOGC and GOMEMLIMIT take
// precedence. It is called once, at the start of a program.
func Tune() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		if total := total(); total > 0 {
			debug.SetMemoryLimit(total / 2)
		}
	}
}

// total returns the machine's memory in bytes; 0 if it is unknown.
func total() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return int64(info.Totalram) * int64(info.Unit)
}
