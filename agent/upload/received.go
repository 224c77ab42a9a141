package upload

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"voltbus/fault"
)

// Bounds of uploads not installed yet, each of which takes up to Max of disk space.
const (
	maxUploads  = 16
	eachUploads = 4 // per person
)

var errUploads = fmt.Errorf("too many installations are under way: up to %d of one person, and %d of all; send this one again when another has ended",
	eachUploads, maxUploads)

// Uploads counts the uploads and installations in progress. It is safe for concurrent use.
type Uploads struct {
	dir string // where they are unpacked, in folders that begin with Prefix

	mu  sync.Mutex
	all int
	of  map[string]int // by sender
}

// Prefix is the prefix of the folders of uploads.
const Prefix = ".upload-"

// New returns Uploads into a folder.
func New(dir string) *Uploads { return &Uploads{dir: dir, of: make(map[string]int)} }

// Receive reads an upload to its end, and counts it until discard is called; fault.Unavailable if there are too many.
// It holds no lock: the sender decides how long it takes.
func (u *Uploads) Receive(from io.Reader, who string) (up Received, discard func() error, err error) {
	end, err := u.begin(who)
	if err != nil {
		return up, nil, err
	}
	up.dir, err = os.MkdirTemp(u.dir, Prefix)
	if err != nil {
		end()
		return up, nil, fault.E("agent.Install", fault.Unavailable, u.dir, err)
	}
	discard = func() error {
		defer end()
		return os.RemoveAll(up.dir)
	}
	source, err := unpack(from, up.dir)
	if err == nil {
		up.source, err = filepath.Rel(up.dir, source)
	}
	if err != nil {
		return up, nil, errors.Join(err, discard())
	}
	return up, discard, nil
}

// begin counts an upload until end is called; fault.Unavailable if there are too many.
func (u *Uploads) begin(who string) (end func(), err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.all >= maxUploads || u.of[who] >= eachUploads {
		return nil, fault.E("agent.Install", fault.Unavailable, "upload", errUploads)
	}
	u.all++
	u.of[who]++
	return func() { u.end(who) }, nil
}

func (u *Uploads) end(who string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.all--
	if u.of[who]--; u.of[who] == 0 {
		delete(u.of, who)
	}
}

// Received is an upload unpacked into its own folder.
type Received struct {
	dir    string
	source string // the file to install, relative to dir
}

// MoveTo moves the upload into the folder of a version, and returns the file to install.
func (up *Received) MoveTo(dir string) (source string, err error) {
	for _, name := range []string{SourceDir, WheelsDir} {
		err := os.Rename(filepath.Join(up.dir, name), filepath.Join(dir, name))
		if name == WheelsDir && errors.Is(err, os.ErrNotExist) {
			continue // it has no dependencies
		}
		if err != nil {
			return "", fault.E("agent.Install", fault.Unavailable, dir, err)
		}
	}
	return filepath.Join(dir, up.source), nil
}
