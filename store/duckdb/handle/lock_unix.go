//go:build unix

package handle

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"voltbus/fault"
)

// lockDirectory creates the directories of a store and locks the store for this process. The lock ends with
// unlock or with the process, however it ends.
func lockDirectory(dir string) (unlock func(), err error) {
	const op = "duckdb.Open"
	for _, d := range []string{dir, filepath.Join(dir, "days"), filepath.Join(dir, "tmp")} {
		if err := os.MkdirAll(d, 0o750); err != nil {
			return nil, fault.E(op, fault.Invalid, dir, fmt.Errorf("the directory must be writable for the store: %w", err))
		}
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, fault.E(op, fault.Invalid, dir, fmt.Errorf("the directory must be writable for the store: %w", err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(f.Name())
		_ = f.Close() // nothing to flush
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fault.E(op, fault.Conflict, dir, fmt.Errorf(
				"another process (%s) has this history open: stop it or choose another data directory", strings.TrimSpace(string(holder))))
		}
		return nil, fault.E(op, fault.Invalid, dir, fmt.Errorf("lock the directory: %w", err))
	}
	if err := f.Truncate(0); err == nil {
		_, _ = fmt.Fprintf(f, "pid %d\n", os.Getpid()) // only helps a person to find the process
	}
	return func() { _ = f.Close() }, nil // the system releases the lock even if this fails
}
