// Package quarantine moves damaged small files of a data directory aside, so that a program can start without them. It keeps them: a
// person may inspect or repair them.
package quarantine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"voltbus/internal/atomicfile"
)

// Mark is the text between the name of a file and the time at which it was set aside.
const Mark = ".damaged-"

// timeForm is the time in such a name, UTC.
const timeForm = "20060102T150405.000000"

// File is a small file that a program can start without.
type File struct {
	Name string // below the data directory, with slashes
	// Check returns what is wrong with the content; nil for a file whose content is never read.
	Check func(content []byte) error
	// Copy is a second file with the same content, which replaces a damaged one; "" for none.
	Copy string
	// Needed means that a damaged file stays in place unless its copy replaces it: the part that reads it says what to do.
	Needed bool
	// Database means that the part that opens the file checks its content: here it only must not be empty.
	// SQLite's side files are moved with it.
	Database bool
	// Lost describes what is lost with the file, and what to do.
	Lost string
}

// Finding is a file that was set aside.
type Finding struct {
	File     string // its name
	Aside    string // its present name
	Reason   string // why; "" if it was set aside at an earlier start
	Restored bool   // its copy has replaced it
	Lost     string
}

// String returns the finding as a sentence without a full stop.
func (f *Finding) String() string {
	text := f.File + " was damaged"
	if f.Reason != "" {
		text += " (" + f.Reason + ")"
	}
	text += " and is set aside as " + f.Aside + ": "
	if f.Restored {
		return text + "its copy is in use"
	}
	return text + f.Lost
}

var (
	errKind  = errors.New("it is not a regular file")
	errEmpty = errors.New("it is empty")
)

// Files checks the existing files in dir, and sets aside damaged ones. An error concerns a file that cannot be set
// aside, and names the command to run.
func Files(dir string, files []File, now time.Time) ([]Finding, error) {
	var found []Finding
	for i := range files {
		f := &files[i]
		reason := f.inspect(dir)
		if reason == nil || (f.Needed && f.twin(dir) == nil) {
			continue
		}
		finding := Finding{File: f.Name, Aside: f.Name + Mark + now.UTC().Format(timeForm), Reason: reason.Error(), Lost: f.Lost}
		if err := f.move(dir, finding.Aside); err != nil {
			name := filepath.Join(dir, filepath.FromSlash(f.Name))
			return found, fmt.Errorf("%s is damaged (%w) and cannot be set aside: %w; run: mv '%s' '%s.damaged'", name, reason, err, name, name)
		}
		finding.Restored = f.restore(dir)
		found = append(found, finding)
	}
	return found, nil
}

// inspect returns what is wrong with a file, nil if nothing is, or it is absent.
func (f *File) inspect(dir string) error {
	name := filepath.Join(dir, filepath.FromSlash(f.Name))
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(name); err == nil {
			return errors.New("it is a link to a file that does not exist")
		}
		return nil
	case err != nil:
		return unreadable(err)
	case !info.Mode().IsRegular():
		return errKind
	case f.Database && info.Size() == 0:
		return errEmpty
	case f.Database || f.Check == nil:
		return nil
	}
	content, err := os.ReadFile(name)
	if err != nil {
		return unreadable(err)
	}
	if len(content) == 0 {
		return errEmpty
	}
	return f.Check(content)
}

// unreadable describes why a file cannot be read; nil if that may be temporary, such as a lack of descriptors.
func unreadable(err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ELOOP) {
		return nil
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Errorf("%s: %w", p.Op, p.Err)
	}
	return err
}

func (f *File) move(dir, aside string) error {
	from, to := filepath.Join(dir, filepath.FromSlash(f.Name)), filepath.Join(dir, filepath.FromSlash(aside))
	if f.Database {
		return moveDatabase(from, to)
	}
	return os.Rename(from, to)
}

// Database moves a damaged SQLite file aside, with its side files, for the part that found out. List then lists it.
func Database(file string, now time.Time) error {
	return moveDatabase(file, file+Mark+now.UTC().Format(timeForm))
}

func moveDatabase(from, to string) error {
	for _, side := range []string{"-wal", "-shm"} {
		if err := os.Rename(from+side, to+side); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return os.Rename(from, to)
}

// restore replaces the file by its copy, if that is intact.
func (f *File) restore(dir string) bool {
	content := f.twin(dir)
	if content == nil {
		return false
	}
	return atomicfile.Writer{}.Write(filepath.Join(dir, filepath.FromSlash(f.Name)), content, 0o600) == nil
}

// twin returns the content of the copy; nil if there is no intact one.
func (f *File) twin(dir string) []byte {
	if f.Copy == "" {
		return nil
	}
	content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Copy)))
	if err != nil || len(content) == 0 || f.Check(content) != nil {
		return nil
	}
	return content
}

// List lists the files set aside, including at earlier starts, that still exist, in the order of the files.
func List(dir string, files []File) []Finding {
	var kept []Finding
	for i := range files {
		f := &files[i]
		folder, base := filepath.Split(filepath.Join(dir, filepath.FromSlash(f.Name)))
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), base+Mark) && !strings.HasSuffix(e.Name(), "-wal") && !strings.HasSuffix(e.Name(), "-shm") {
				kept = append(kept, Finding{File: f.Name, Aside: strings.TrimSuffix(f.Name, base) + e.Name(), Lost: f.Lost})
			}
		}
	}
	return slices.Clip(kept)
}
