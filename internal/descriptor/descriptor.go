// Package descriptor divides the open files that a process may have: first among the parts that store data, then among connections.
package descriptor

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

const (
	// Reserve is how many are reserved for storage: log, store, catalogue and audit log, and files opened briefly.
	Reserve = 112
	// Enough is the limit from which every share is as large as a large node needs.
	Enough = 16384

	maxHTTP = 4096
	maxBus  = 60_000
	least   = 8 // of each share, however low the limit is
)

// Shares are how many open files each use may have.
type Shares struct {
	Limit int // of the process
	HTTP  int // connections to the page and the API
	Bus   int // connections to the bus
	Lines int // devices, agents and whatever else
}

// Limit returns how many files the process may have open. Go has already raised it to the hard limit.
func Limit() (int, error) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return 0, fmt.Errorf("ask how many files may be open: %w", err)
	}
	return int(min(r.Cur, 1<<30)), nil
}

// Share divides a limit.
func Share(limit int) Shares {
	rest := max(limit-Reserve, 0)
	s := Shares{Limit: limit, HTTP: min(max(rest*2/5, least), maxHTTP), Lines: max(rest/5, least)}
	s.Bus = min(max(rest-s.HTTP-s.Lines, least), maxBus)
	return s
}

// Split takes files for so many MQTT clients, as far as available, from those of the bus, which keeps at least a tenth.
func (s Shares) Split(clients int) (rest Shares, mqtt int) {
	mqtt = min(clients, s.Bus*9/10)
	s.Bus -= mqtt
	return s, mqtt
}

// Warning describes what a low limit can support, "" for one that suffices for the known devices and agents.
func (s Shares) Warning(known int) string {
	if s.Limit >= Enough && known <= s.Lines {
		return ""
	}
	return fmt.Sprintf("this process may have %d files open, which carries %d connections to page and API, %d to the bus, and %d devices and agents "+
		"(%d are configured); for more start it with a higher limit, such as LimitNOFILE=65536 in its service or ulimit -n 65536 in its shell",
		s.Limit, s.HTTP, s.Bus, s.Lines, known)
}

// Exhausted reports whether the process, or the machine, cannot open another file at present.
func Exhausted() bool {
	f, err := os.Open(os.DevNull)
	if err != nil {
		return IsExhausted(err)
	}
	_ = f.Close()
	return false
}

// IsExhausted reports whether an error says that too many files are open.
func IsExhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}
