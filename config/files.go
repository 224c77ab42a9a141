package config

import (
	"path/filepath"

	"voltbus/driver"
	"voltbus/internal/folder"
)

// maxInclude bounds an included file: far above any real one.
const maxInclude = 64 << 20

// place is where the configuration stands, with the files beside it that it may name.
type place struct {
	file   string
	closed []string       // folders that hold no files of a configuration
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
		_ = p.folder.Close() // only read from
	}
}

// files returns the files that a text in the file may name, relative to its place.
func (p *place) files(file string) driver.Files {
	f, err := p.open()
	if err != nil {
		return noFiles{err}
	}
	return f.In(near(p.file, filepath.Dir(file)))
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

// near returns the name as seen from the main file's directory.
func (p *place) near(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(filepath.Dir(p.file), name)
}
