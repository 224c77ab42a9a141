package config

import (
	"path/filepath"

	"voltbus/driver"
	"voltbus/internal/folder"
)

// maxInclude bounds an included file: far above any real one.
const maxInclude = 64 << 20

// open opens the folder of the configuration, once.
func (l *loader) open() (*folder.Folder, error) {
	if l.folder != nil {
		return l.folder, nil
	}
	f, err := folder.Open(filepath.Dir(l.file), l.closed...)
	if err == nil {
		l.folder = f
	}
	return f, err
}

func (l *loader) close() {
	if l.folder != nil {
		_ = l.folder.Close() // only read from
	}
}

// files returns the files that a text in the file may name, relative to its place.
func (l *loader) files(file string) driver.Files {
	f, err := l.open()
	if err != nil {
		return noFiles{err}
	}
	return f.In(near(l.file, filepath.Dir(file)))
}

// near returns a name as seen from the folder of a file.
func near(file, name string) string {
	if rel, err := filepath.Rel(filepath.Dir(file), name); err == nil {
		return rel
	}
	return name
}

// noFiles stands in for a folder that cannot be opened.
type noFiles struct{ err error }

// ReadFile returns why.
func (n noFiles) ReadFile(string, int64) ([]byte, error) { return nil, n.err }

// glob returns the names of the files that fit a pattern, sorted.
func (l *loader) glob(pattern string) ([]string, error) {
	f, err := l.open()
	if err != nil {
		return nil, err
	}
	names, err := f.Glob(pattern)
	for i := range names {
		names[i] = l.near(names[i])
	}
	return names, err
}
