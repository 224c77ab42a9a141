// Package revision stores the configuration file: it replaces the file atomically, and keeps earlier versions with their time and author.
package revision

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"voltbus/fault"
	"voltbus/internal/atomicfile"
)

// VersionOf identifies a text: equal texts have the same version, 16 hexadecimal digits.
func VersionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Entry is what the history knows about one version.
type Entry struct {
	Version string
	Time    time.Time // when it was written, UTC
	User    string    // who wrote it through the node; "" if edited by hand
}

// File is a configuration file with its history. It is safe for concurrent use; other programs may change the
// file, which Change detects.
type File struct {
	name   string
	dir    string
	now    func() time.Time
	writer atomicfile.Writer

	mu     sync.Mutex
	trials sync.Mutex // one after another; held before mu
}

// Options configure a File.
type Options struct {
	Name   string            // the file; if it is a link, its target is replaced
	Dir    string            // the folder of the history; created when needed
	Now    func() time.Time  // the clock; nil for time.Now
	Writer atomicfile.Writer // how files are written
}

// New returns a File. It reads nothing.
func New(o Options) *File {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &File{name: o.Name, dir: o.Dir, now: o.Now, writer: o.Writer}
}

// Name returns the file's name.
func (f *File) Name() string { return f.name }

// Read returns the content of the file.
func (f *File) Read() ([]byte, error) {
	text, err := os.ReadFile(f.name)
	if err != nil {
		return nil, f.fail("revision.Read", f.name, err)
	}
	return text, nil
}

var errOutdated = errors.New("was changed by somebody else since you read it; read it again, and make your change there")

// Change replaces the given version of the text by a new one, on behalf of the user, and calls apply. If the
// file holds another version, that is fault.Conflict; if apply fails, the old text is restored. The replaced
// content is in the history before it is replaced. After a crash at any moment the file holds either the old
// or the new text, complete. Changes wait for each other.
func (f *File) Change(text []byte, before, user string, apply func() error) error {
	const op = "revision.Change"
	f.mu.Lock()
	defer f.mu.Unlock()
	old, err := f.Read()
	if err != nil {
		return err
	}
	if VersionOf(old) != before {
		return fault.E(op, fault.Conflict, f.name, errOutdated)
	}
	target, info, err := f.target()
	if err != nil {
		return f.fail(op, f.name, err)
	}
	undo, err := f.remember(old, info.ModTime(), text, user)
	if err != nil {
		return f.fail(op, f.dir, err)
	}
	err = f.writer.Write(target, text, info.Mode().Perm())
	if err != nil {
		err = f.fail(op, f.name, err)
	} else if err = apply(); err == nil {
		return nil
	}
	undo()
	return errors.Join(err, f.restore(target, old, info.Mode().Perm()))
}

// restore puts the old text back if the file holds another.
func (f *File) restore(target string, old []byte, mode fs.FileMode) error {
	text, err := os.ReadFile(target)
	if err == nil && VersionOf(text) == VersionOf(old) {
		return nil
	}
	if err := f.writer.Write(target, old, mode); err != nil {
		return f.fail("revision.Change", f.name, fmt.Errorf(
			"the old text could not be put back; it is in %s: %w", f.dir, err))
	}
	return nil
}

// target returns the file behind links.
func (f *File) target() (string, fs.FileInfo, error) {
	name, err := filepath.EvalSymlinks(f.name)
	if err != nil {
		return "", nil, err
	}
	info, err := os.Stat(name)
	return name, info, err
}

// Writable returns nil if the folder's permissions allow the file to be replaced, without touching it, or else
// fault.Refused with what to do.
func (f *File) Writable() error {
	const op = "revision.Writable"
	target, _, err := f.target()
	if err != nil {
		return f.fail(op, f.name, err)
	}
	dir := filepath.Dir(target)
	if err := unix.Faccessat(unix.AT_FDCWD, dir, unix.W_OK|unix.X_OK, unix.AT_EACCESS); err != nil {
		return f.fail(op, dir, err)
	}
	return nil
}

// fail adds to an error of the file system its kind and what to do.
func (f *File) fail(op, name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fault.E(op, fault.NotFound, name, errors.New("does not exist any more; restore it, or start the node with another"))
	case errors.Is(err, unix.EROFS):
		return fault.E(op, fault.Refused, name, errors.New(
			"this node may not write here; in its unit, let it write to the folder of its configuration "+
				"(ReadWritePaths=), or edit the file by hand and reload it"))
	case errors.Is(err, fs.ErrPermission):
		return fault.E(op, fault.Refused, name, errors.New(
			"this node's user may not write here; let its group write to the folder of its configuration "+
				"(chgrp, chmod g+w), or edit the file by hand and reload it"))
	}
	return fault.E(op, fault.Unavailable, name, fmt.Errorf("cannot be written: %w; make room, or check the disk", err))
}
