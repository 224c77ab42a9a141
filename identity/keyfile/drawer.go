package keyfile

import (
	"errors"
	"os"
	"path/filepath"
	"sync"

	"voltbus/fault"
)

// Drawer keeps secrets that others make, each in a file of a folder.
type Drawer struct {
	Folder string

	mu sync.Mutex
}

var errFileName = errors.New("is no name of a file")

// Keep returns the content of a file that only its owner may read. If there is none, it is what create returns. It may be called by
// any goroutine.
func (d *Drawer) Keep(name string, create func() ([]byte, error)) ([]byte, error) {
	const op = "keyfile.Keep"
	if name == "" || filepath.Base(name) != name || name[0] == '.' {
		return nil, fault.E(op, fault.Invalid, name, errFileName)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	file := filepath.Join(d.Folder, name)
	content, err := Read(file)
	if fault.KindOf(err) != fault.NotFound {
		return content, err
	}
	if content, err = create(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(d.Folder, 0o700); err != nil {
		return nil, Fault(op, d.Folder, err)
	}
	return content, Write(file, content, 0o600)
}
