// Package keyfile reads and writes the files with a node's secrets: atomically, and readable only by their owner.
package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

const (
	// Private is the mode of a secret.
	Private fs.FileMode = 0o600
	// Public is the mode of files readable by everybody.
	Public     fs.FileMode = 0o644
	maxKeyFile             = 64 << 10
)

// Read returns the content of a file that only its owner may read. Access for others gives fault.Refused, an
// absent file fault.NotFound.
func Read(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, Fault("keyfile.Read", file, err)
	}
	switch {
	case !info.Mode().IsRegular():
		return nil, fault.E("keyfile.Read", fault.Invalid, file,
			errors.New("is not a regular file"))
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fault.E("keyfile.Read", fault.Refused, file, fmt.Errorf(
			"other users of this machine can read this secret (mode %04o); run: chmod 600 '%s'",
			info.Mode().Perm(), file))
	case info.Size() > maxKeyFile:
		return nil, fault.E("keyfile.Read", fault.Corrupt, file,
			errors.New("is too large for a key"))
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, Fault("keyfile.Read", file, err)
	}
	return b, nil
}

// Write replaces the content in one step, durably: a crash leaves the old file or the new one, and a secret
// is never readable by others.
func Write(file string, content []byte, mode fs.FileMode) error {
	if err := (atomicfile.Writer{}).Write(file, content, mode); err != nil {
		return Fault("keyfile.Write", file, err)
	}
	return nil
}

// Fault adds to an error of the file system its kind and what to do.
func Fault(op, file string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.E(op, fault.NotFound, file, fmt.Errorf("there is no such file or folder: %w", err))
	case errors.Is(err, fs.ErrPermission):
		return fault.E(op, fault.Refused, file, fmt.Errorf(
			"this user may not access it; run as the owner of the data directory: %w", err))
	}
	return fault.E(op, fault.Unavailable, file, err)
}
