package filetransfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Service describes what an outstation serves as files (clause 5, g70). The zero
// value serves none.
type Service struct {
	// Files holds the files and directories. Names that masters use, with slashes or
	// backslashes and maybe absolute, become names as package fs has them, so that none
	// leads out of it. If it is an [UploadFS] masters may write and delete. It is called
	// while the outstation is locked: it must answer at once, as memory and local disks do.
	Files fs.FS
	// Authenticate says whether a user may use files. If it is not nil, each opening and
	// deletion needs a key that this user got before.
	Authenticate func(user, password string) bool
	// MaxOpen bounds the open files of each master; 0 means 4.
	MaxOpen int
	// MaxSize bounds a file that is written, in octets; 0 means 16 MiB.
	MaxSize int64
	// Timeout is how long an open file may be left alone; 0 means 60 s.
	Timeout time.Duration
}

// UploadFS is a file system that files can be sent to.
type UploadFS interface {
	fs.FS
	// Create begins a file of this name, or behind the end of one. While another master
	// writes it, the error is one of fs.ErrExist.
	Create(name string, behind bool) (Upload, error)
	// Remove deletes a file.
	Remove(name string) error
}

// Upload is a file being written. One of Commit and Abort ends it.
type Upload interface {
	io.Writer
	// Commit makes what was written the file.
	Commit() error
	// Abort drops what was written.
	Abort()
}

// Defaults.
const (
	defaultMaxOpen     = 4
	defaultMaxSize     = 16 << 20
	defaultFileTimeout = time.Minute
)

var errFiles = errors.New("needs bounds of files that are zero or more")

// Validate says which bound to change.
func (f *Service) Validate() error {
	if f.MaxOpen < 0 || f.MaxSize < 0 || f.Timeout < 0 {
		return fmt.Errorf("outstation: %w", errFiles)
	}
	return nil
}

// SetDefaults replaces bounds that were left out.
func (f *Service) SetDefaults() {
	if f.MaxOpen == 0 {
		f.MaxOpen = defaultMaxOpen
	}
	if f.MaxSize == 0 {
		f.MaxSize = defaultMaxSize
	}
	if f.Timeout == 0 {
		f.Timeout = defaultFileTimeout
	}
}
