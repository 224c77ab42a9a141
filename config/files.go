package config

import (
	"path/filepath"

	"voltbus/driver"
	"voltbus/internal/folder"
)

// maxInclude bounds the size of an included file, far above any real one.
const maxInclude = 64 << 20

// place is the location of the configuration, with the files that it may name.
type place struct {
	file   string
	closed []string       // folders with no configuration files
	folder *folder.Folder // nil until a file is named
}

// open opens the folder of the configuration, once.
func (p *place) open() (*folder.Folder, error) {
	if p.folder != nil {
		return p.folder, nil
	}
	f, err := folder.Open(filepath.Dir(p.file), p.closed...)
	if err == nil {
		p.folder = f
	}
	return f, err
}

func (p *place) close() {
	if p.folder != nil {
		_ = p.folder.Close() // it was only read
	}
}

// files returns the files that the configuration may name, relative to its location.
func (p *place) files(file string) driver.Files {
	f, err := p.open()
	if err != nil {
		return noFiles{err}
	}
	return f.In(near(p.file, filepath.Dir(file)))
}

// near converts a name relative to the folder of a file.
func near(file, name string) string {
	if rel, err := filepath.Rel(filepath.Dir(file), name); err == nil {
		return rel
	}
	return name
}

// noFiles replaces a folder that cannot be opened.
type noFiles struct{ err error }

// ReadFile returns the reason.
func (n noFiles) ReadFile(string, int64) ([]byte, error) { return nil, n.err }

// glob returns the names of the files that match a pattern, sorted.
func (p *place) glob(pattern string) ([]string, error) {
	f, err := p.open()
	if err != nil {
		return nil, err
	}
	names, err := f.Glob(pattern)
	for i := range names {
		names[i] = p.near(names[i])
	}
	return names, err
}

// near converts a name relative to the main file's directory.
func (p *place) near(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(p.file), name)
}
