package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"io/fs"

	"voltbus/internal/coding"
)

// The ends of the names of the files that the build keeps of an asset, one in each coding.
const (
	brotli = ".br"
	zipped = ".gz"
)

// inCoding reads a file in the best coding that the client accepts; "" is none. The build keeps most files only in
// codings; for a client that knows none of them one is unpacked.
func inCoding(files fs.FS, name, accepted string) (content []byte, used string, err error) {
	if coding.Accepts(accepted, "br") {
		if content, err := fs.ReadFile(files, name+brotli); err == nil {
			return content, "br", nil
		}
	}
	if coding.Accepts(accepted, "gzip") {
		if content, err := fs.ReadFile(files, name+zipped); err == nil {
			return content, "gzip", nil
		}
	}
	content, err = fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		content, err = unpacked(files, name+zipped)
	}
	return content, "", err
}

func unpacked(files fs.FS, name string) ([]byte, error) {
	packed, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	from, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}
