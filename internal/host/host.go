// Package host reads the resources of this process and its machine: memory, processor time, free disk space and board temperature. If
// the system does not report a value, it is zero.
package host

import (
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"syscall"
	"time"
)

// Memory returns the resident memory of this process in bytes; 0 if unknown.
func Memory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// Processor returns how much processor time this process has used since its start.
func Processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// FreeSpace returns the bytes that this process may still write to the disk of a folder, and the size of that
// disk; zeros if unknown.
func FreeSpace(dir string) (free, size int64) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0
	}
	unit := int64(s.Bsize) //nolint:unconvert // its type differs between machines
	return int64(s.Bavail) * unit, int64(s.Blocks) * unit
}

// System is the file tree in which the kernel exposes its devices.
func System() fs.FS { return os.DirFS("/sys") }

// sensors are the files with temperatures, in thousandths of a degree: those of the board and its processor
// or, if there are none, of other chips.
func sensors() []string {
	return []string{"class/thermal/thermal_zone*/temp", "class/hwmon/hwmon*/temp*_input"}
}

// A sensor with a value outside this range is not connected.
const (
	coldest = -40.0 // °C
	hottest = 150.0
)

// Temperature returns the highest temperature that the machine reports, in °C; false if it reports none.
func Temperature(system fs.FS) (float64, bool) {
	for _, pattern := range sensors() {
		if t, known := highest(system, pattern); known {
			return t, true
		}
	}
	return 0, false
}

func highest(system fs.FS, pattern string) (t float64, known bool) {
	files, err := fs.Glob(system, pattern)
	if err != nil {
		return 0, false
	}
	t = math.Inf(-1)
	for _, name := range files {
		text, err := fs.ReadFile(system, path.Clean(name))
		if err != nil {
			continue // for example one that is switched off
		}
		milli, err := strconv.Atoi(string(bytes.TrimSpace(text)))
		if c := float64(milli) / 1000; err == nil && c > t && c > coldest && c < hottest {
			t = c
		}
	}
	return t, !math.IsInf(t, -1)
}
