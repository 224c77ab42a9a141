// Package folder reads files within one directory and nowhere else, even if a less trusted caller chose the names.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Reasons why a file is not read. None of them reveals whether the file exists, or its content.
var (
	ErrOutside = errors.New("lies outside of the configuration's folder, itself or by a link; put the file into that folder")
	ErrClosed  = errors.New("belongs to the node's own data; name a file in another folder")
	ErrSpecial = errors.New("is not a regular file; name a file")
)

// kept is the maximum number of files that a Folder caches.
const kept = 64

// Folder reads the files below one folder. Symbolic links are followed as long as they stay within it. It is
// used by one goroutine.
type Folder struct {
	root   *os.Root
	dir    string   // as named, absolute
	closed []string // folders that must not be read, without links
	files  map[string][]byte
}

// Open opens a folder. Files in the closed folders are not read, even below dir. The caller closes the
// Folder.
func Open(dir string, closed ...string) (*Folder, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{root: root, dir: dir, files: make(map[string][]byte)}
	for _, c := range closed {
		if c, err = filepath.Abs(c); err == nil {
			f.closed = append(f.closed, c)
			if target, err := filepath.EvalSymlinks(c); err == nil {
				f.closed = append(f.closed, target)
			}
		}
	}
	return f, nil
}

// Close releases the folder.
func (f *Folder) Close() error { return f.root.Close() }

// ReadFile returns the content of a file of at most so many bytes. The name is relative to the folder, or
// absolute. The bytes are shared with later calls: do not modify them. Errors are those of this package, and
// *fs.PathError for a file in the folder that cannot be read.
func (f *Folder) ReadFile(name string, most int64) ([]byte, error) {
	name, err := f.inside(name)
	if err != nil {
		return nil, err
	}
	if data, ok := f.files[name]; ok && int64(len(data)) <= most {
		return data, nil
	}
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("is larger than %d KiB; split it", most>>10)
	}
	if len(f.files) < kept {
		f.files[name] = data
	}
	return data, nil
}

// inside returns the name as seen from the folder.
func (f *Folder) inside(name string) (string, error) {
	if filepath.IsAbs(name) {
		near, err := filepath.Rel(f.dir, name)
		if err != nil {
			return "", ErrOutside
		}
		name = near
	}
	if name = filepath.Clean(name); !filepath.IsLocal(name) {
		return "", ErrOutside
	}
	return name, nil
}

// open opens a regular file. It checks the opened file, not its name, so that a link cannot be swapped in
// between. It does not block on a pipe or activate a device.
func (f *Folder) open(name string) (*os.File, error) {
	if info, err := f.root.Stat(name); err != nil {
		return nil, f.reason(name, err)
	} else if !info.Mode().IsRegular() {
		return nil, ErrSpecial // merely opening some devices has an effect
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, f.reason(name, err)
	}
	if err := f.judge(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// reason reduces an error to what may be revealed: nothing about files that are outside or must not be read.
func (f *Folder) reason(name string, err error) error {
	for _, c := range f.closed {
		if at := filepath.Join(f.dir, name); at == c || strings.HasPrefix(at, c+"/") {
			return ErrClosed
		}
	}
	cause := errors.Unwrap(err)
	if errno, ok := errors.AsType[unix.Errno](err); ok {
		return &fs.PathError{Op: "open", Path: name, Err: errno}
	}
	if errors.Is(cause, fs.ErrNotExist) || errors.Is(cause, fs.ErrPermission) {
		return err
	}
	return ErrOutside // os.Root exports no error for "path escapes from parent"
}

// kernels reports whether a file system of this kind is the kernel's own, whose reads return more than stored
// content.
func kernels(kind int64) bool {
	switch kind {
	case unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}

// judge refuses anything but regular files, and files in a closed folder.
func (f *Folder) judge(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return ErrSpecial
	}
	var at unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &at); err != nil || kernels(at.Type) {
		return ErrSpecial
	}
	if f.closedTo(file) {
		return ErrClosed
	}
	return nil
}

// closedTo reports whether an opened file is a closed folder, or lies in one.
func (f *Folder) closedTo(file *os.File) bool {
	if len(f.closed) == 0 {
		return false
	}
	target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(file.Fd())))
	return err != nil || slices.ContainsFunc(f.closed, func(c string) bool { // without /proc this cannot be determined
		return target == c || strings.HasPrefix(target, c+"/")
	})
}

// Glob returns the sorted names of the files that match a pattern, relative to the folder, except those in
// closed folders. The error is path.ErrBadPattern or ErrOutside.
func (f *Folder) Glob(pattern string) ([]string, error) {
	pattern, err := f.inside(pattern)
	if err != nil {
		return nil, err
	}
	names, err := fs.Glob(listing{f}, filepath.ToSlash(pattern))
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool {
		file, err := f.open(name)
		if err == nil {
			_ = file.Close() // it was only inspected
		}
		return errors.Is(err, ErrClosed)
	}), nil
}

// listing exposes the names in the folder, except those of closed folders. It opens only folders: a pipe
// would block.
type listing struct{ f *Folder }

// Open opens a folder.
func (l listing) Open(name string) (fs.File, error) {
	dir, err := l.f.root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if l.f.closedTo(dir) {
		return nil, errors.Join(ErrClosed, dir.Close())
	}
	return dir, nil
}

// Stat describes what a name refers to.
func (l listing) Stat(name string) (fs.FileInfo, error) { return l.f.root.Stat(name) }

// In returns the files of the folder by names relative to dir, a folder in it.
func (f *Folder) In(dir string) Files { return Files{folder: f, dir: dir} }

// Files are the files of a folder, by names relative to a folder in it.
type Files struct {
	folder *Folder
	dir    string
}

// ReadFile is Folder.ReadFile.
func (f Files) ReadFile(name string, most int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(f.dir, name)
	}
	return f.folder.ReadFile(name, most)
}

// Any reads every file that this process may read, by names relative to a folder: for programs whose user
// chooses the files.
type Any string

// ReadFile returns the content of a regular file of at most so many bytes.
func (dir Any) ReadFile(name string, most int64) ([]byte, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(string(dir), name)
	}
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, ErrSpecial
	case info.Size() > most:
		return nil, fmt.Errorf("is larger than %d KiB; split it", most>>10)
	}
	return os.ReadFile(name)
}
