// Package atomicfile replaces files atomically: after a crash or an error the file has either its old content or the new. It also
// appends to files whose length is known elsewhere.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Step is a moment of a write at which a disk may fail.
type Step string

// The steps of a write, in order.
const (
	Create   Step = "create"
	Fill     Step = "fill"
	Sync     Step = "sync"
	Rename   Step = "rename"
	SyncName Step = "sync the name"
)

// Writer writes files. The zero Writer is ready to use; it is safe for concurrent use.
type Writer struct {
	// Before is called before each step, and an error makes the step fail: tests use it to simulate disk
	// failures. nil in production.
	Before func(Step) error
}

// Write replaces the content of the file, or creates it, with the mode. When it returns nil the content is on
// disk. After an error the old content is in place, unless the last step failed: then the new content is in
// place but may be lost in a power failure.
func (w Writer) Write(file string, content []byte, mode fs.FileMode) error {
	if err := w.before(Create); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // of no effect after the rename
	err = w.fill(tmp, content, mode)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := w.before(Rename); err != nil {
		return err
	}
	if err := os.Rename(tmp.Name(), file); err != nil {
		return err
	}
	if err := w.before(SyncName); err != nil {
		return err
	}
	return syncDir(filepath.Dir(file))
}

func (w Writer) fill(tmp *os.File, content []byte, mode fs.FileMode) error {
	if err := w.before(Fill); err != nil {
		return err
	}
	if _, err := tmp.Write(content); err != nil {
		return err
	}
	if err := w.before(Sync); err != nil {
		return err
	}
	return errors.Join(tmp.Chmod(mode), tmp.Sync())
}

func (w Writer) before(s Step) error {
	if w.Before == nil {
		return nil
	}
	return w.Before(s)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Append writes at the end of a file, which is after size bytes: what is beyond them was not written completely, and is written
// over. When it returns nil the content is on disk.
func Append(name string, size int64, content []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = file.Truncate(size)
	if err == nil {
		_, err = file.WriteAt(content, size)
	}
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
