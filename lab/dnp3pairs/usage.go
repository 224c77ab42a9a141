package dnp3pairs

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
)

// used returns the processor time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Fields of a process's status.
const (
	resident     = "VmRSS:"
	residentPeak = "VmHWM:"
)

// status returns a field of this process's status in kB.
func status(field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, found := bytes.Cut(text, []byte(field))
	fields := bytes.Fields(rest)
	if !found || len(fields) == 0 {
		return 0
	}
	n, err := strconv.Atoi(string(fields[0]))
	if err != nil {
		return 0
	}
	return n
}
