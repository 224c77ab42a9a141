// Package folder serves a directory of the disk to the file service of an outstation. Nothing outside the directory can be reached,
// neither by names nor by links in it.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"sync"

	"voltbus/protocol/dnp3/outstation/filetransfer"
)

// Folder is a directory that masters may read, and write if it was opened for that. It
// may be used concurrently. Whoever opened it closes it.
type Folder struct {
	root *os.Root
}

// Writable is a [Folder] that masters may also write to and delete from.
type Writable struct {
	Folder

	mu   sync.Mutex
	busy map[string]bool // names being written
}

var _ filetransfer.UploadFS = (*Writable)(nil)

// Open opens a directory for reading.
func Open(name string) (*Folder, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, fmt.Errorf("open folder for masters: %w", err)
	}
	return &Folder{root: root}, nil
}

// OpenWritable opens a directory for reading and writing.
func OpenWritable(name string) (*Writable, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	return &Writable{Folder: *f, busy: make(map[string]bool)}, nil
}

// Close closes the directory.
func (f *Folder) Close() error { return f.root.Close() }

// Open implements fs.FS.
func (f *Folder) Open(name string) (fs.File, error) { return f.root.FS().Open(name) }

// Remove deletes a file, but no directory.
func (f *Writable) Remove(name string) error {
	info, err := f.root.Lstat(name)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "remove", Path: name, Err: fs.ErrPermission}
	}
	return f.root.Remove(name)
}

// partSuffix marks a file that is being written.
const partSuffix = ".part"

// Create begins a file, which takes its name when it is complete, or writes behind the
// end of one.
func (f *Writable) Create(name string, behind bool) (filetransfer.Upload, error) {
	if info, err := f.root.Lstat(name); err == nil && !info.Mode().IsRegular() || path.Ext(name) == partSuffix {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrPermission}
	}
	if !f.lock(name) {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	upload, err := f.create(name, behind)
	if err != nil {
		f.unlock(name)
		return nil, err
	}
	return &locked{Upload: upload, folder: f, name: name}, nil
}

func (f *Writable) lock(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.busy[name] {
		return false
	}
	f.busy[name] = true
	return true
}

func (f *Writable) unlock(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.busy, name)
}

// locked is an upload that keeps others off its name.
type locked struct {
	filetransfer.Upload

	folder *Writable
	name   string
}

func (l *locked) Commit() error {
	defer l.folder.unlock(l.name)
	return l.Upload.Commit()
}

func (l *locked) Abort() {
	defer l.folder.unlock(l.name)
	l.Upload.Abort()
}

func (f *Writable) create(name string, behind bool) (filetransfer.Upload, error) {
	const ownerOnly = 0o600
	if behind {
		file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE, ownerOnly)
		if err != nil {
			return nil, err
		}
		end, err := file.Seek(0, io.SeekEnd)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return &addition{file: file, end: end}, nil
	}
	file, err := f.root.OpenFile(name+partSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerOnly)
	if err != nil {
		return nil, err
	}
	return &part{root: f.root, file: file, name: name}, nil
}

// part is a file under a name of its own until it is complete.
type part struct {
	root *os.Root
	file *os.File
	name string
}

func (p *part) Write(b []byte) (int, error) { return p.file.Write(b) }

func (p *part) Commit() error {
	if err := errors.Join(p.file.Sync(), p.file.Close()); err != nil {
		_ = p.root.Remove(p.name + partSuffix)
		return err
	}
	return p.root.Rename(p.name+partSuffix, p.name)
}

func (p *part) Abort() {
	_ = p.file.Close()
	_ = p.root.Remove(p.name + partSuffix)
}

// addition is what is written behind the end of a file.
type addition struct {
	file *os.File
	end  int64
}

func (a *addition) Write(b []byte) (int, error) { return a.file.Write(b) }
func (a *addition) Commit() error               { return errors.Join(a.file.Sync(), a.file.Close()) }

func (a *addition) Abort() {
	_ = a.file.Truncate(a.end)
	_ = a.file.Close()
}
