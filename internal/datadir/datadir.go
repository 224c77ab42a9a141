// Package datadir locks a data directory for one process and watches the free space of its disk.
package datadir

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile is locked, and names the process, as long as a directory is claimed.
const lockFile = "voltbus.lock"

// ErrInUse says that another process has claimed the directory.
var ErrInUse = errors.New("is used by another voltbus")

// Claim is a directory that this process alone uses.
type Claim struct {
	dir  string
	file *os.File
}

// Take creates the directory if absent, checks that it is writable, and claims it. It fails with ErrInUse if
// another process has claimed it. A claim ends with Release, or with the process, however that ends.
func Take(dir string) (*Claim, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data directory: %w", err)
	}
	name := filepath.Join(dir, lockFile)
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, syscall.EISDIR) {
		return nil, fmt.Errorf("%s is no file; run: mv '%s' '%s.damaged' (%w)", name, name, name, err)
	}
	if err != nil {
		return nil, fmt.Errorf("write to the data directory: %w", err)
	}
	if err := unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK}); err != nil {
		owner, _ := io.ReadAll(io.LimitReader(file, 32))
		err = errors.Join(inUse(strings.TrimSpace(string(owner))), file.Close())
		return nil, err
	}
	if err := errors.Join(file.Truncate(0), writeOwner(file)); err != nil {
		return nil, errors.Join(fmt.Errorf("write to the data directory: %w", err), file.Close())
	}
	return &Claim{dir: dir, file: file}, nil
}

// InUse reports whether a process currently has a claim on the directory.
func InUse(dir string) bool {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if err != nil {
		return false
	}
	defer file.Close()
	// The check must not take the lock, not even for a moment: a node that starts just then would be refused.
	lock := unix.Flock_t{Type: unix.F_WRLCK}
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock) == nil && lock.Type != unix.F_UNLCK
}

func inUse(owner string) error {
	if owner == "" {
		return ErrInUse
	}
	return fmt.Errorf("%w (process %s)", ErrInUse, owner)
}

func writeOwner(file *os.File) error {
	_, err := fmt.Fprintln(file, os.Getpid())
	return err
}

// Release ends the claim, also while a process that is just being started still has the open file.
func (c *Claim) Release() error {
	unlocked := unix.FcntlFlock(c.file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
	return errors.Join(unlocked, c.file.Close())
}

// FreeSpace monitors the free space on the disk of a directory. It is safe for concurrent use.
type FreeSpace struct {
	dir   string
	least uint64

	mu      sync.Mutex
	checked time.Time
	err     error
}

// NewFreeSpace returns a FreeSpace that reports when fewer than least bytes are free.
func NewFreeSpace(dir string, least uint64) *FreeSpace { return &FreeSpace{dir: dir, least: least} }

// roomEvery is how long a result of Check is cached.
const roomEvery = 100 * time.Millisecond

// Check returns nil if there is enough space, otherwise a sentence that says how much is missing. It queries
// the file system at most ten times a second.
func (r *FreeSpace) Check() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if now := time.Now(); now.Sub(r.checked) >= roomEvery {
		r.checked, r.err = now, r.ask()
	}
	return r.err
}

func (r *FreeSpace) ask() error {
	free, err := Free(r.dir)
	if err != nil {
		return err
	}
	if free < r.least {
		return fmt.Errorf("only %d MiB are free on the disk of %s, and %d MiB must stay free: make room on it",
			free>>20, r.dir, r.least>>20)
	}
	return nil
}

// Free returns the bytes that this process may still write to the disk of a directory.
func Free(dir string) (uint64, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, fmt.Errorf("ask for the room on the disk of %s: %w", dir, err)
	}
	return fs.Bavail * uint64(fs.Bsize), nil
}
