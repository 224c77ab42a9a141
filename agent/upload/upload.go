// Package upload receives and checks the packages of agents to install.
package upload

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"voltbus/fault"
)

// Max is the maximum size of an upload in bytes.
const Max = 256 << 20

// The folders of an upload.
const (
	SourceDir = "source" // holds the one file to install
	WheelsDir = "wheels" // holds its dependencies, for a node without access to a registry
)

var fileForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+!-]*$`)

var errUpload = errors.New("holds no file source/<name>.whl, .tar.gz or .zip; send what voltbus agent install sends")

// unpack writes the files of an upload, a compressed tar with source/ and wheels/, below dir, and
// returns the file to install.
func unpack(from io.Reader, dir string) (string, error) {
	zr, err := gzip.NewReader(from)
	if err != nil {
		return "", fault.E("agent.unpack", fault.Invalid, "upload", fmt.Errorf("is no compressed tar: %w", err))
	}
	archive, source, left := tar.NewReader(io.LimitReader(zr, Max+1)), "", int64(Max)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return "", fault.E("agent.unpack", fault.Invalid, "upload", fmt.Errorf("cannot be read: %w; it may have %d MiB", err, Max>>20))
		}
		folder, name, err := member(h, &left)
		if err != nil {
			return "", err
		}
		file := filepath.Join(dir, folder, name)
		if err := Store(file, archive); err != nil {
			return "", err
		}
		if folder == SourceDir {
			if source != "" {
				return "", fault.E("agent.unpack", fault.Invalid, "upload", errors.New("holds more than one file in source; send one package at a time"))
			}
			source = file
		}
	}
	if source == "" || (!strings.HasSuffix(source, ".whl") && !strings.HasSuffix(source, ".tar.gz") && !strings.HasSuffix(source, ".zip")) {
		return "", fault.E("agent.unpack", fault.Invalid, "upload", errUpload)
	}
	return source, nil
}

// member checks a file of an upload; left is how many more bytes are allowed.
func member(h *tar.Header, left *int64) (folder, name string, err error) {
	folder, name = path.Split(h.Name)
	folder = strings.TrimSuffix(folder, "/")
	if h.Typeflag != tar.TypeReg || (folder != SourceDir && folder != WheelsDir) || !fileForm.MatchString(name) {
		return "", "", fault.E("agent.unpack", fault.Invalid, "upload", fmt.Errorf("holds %.100q, which is not expected: %w", h.Name, errUpload))
	}
	if *left -= h.Size; *left < 0 {
		return "", "", fault.E("agent.unpack", fault.Invalid, "upload", fmt.Errorf("is larger than %d MiB", Max>>20))
	}
	return folder, name, nil
}

// Store writes a new file.
func Store(name string, from io.Reader) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fault.E("agent.unpack", fault.Unavailable, name, err)
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fault.E("agent.unpack", fault.Unavailable, name, err)
	}
	_, err = io.Copy(file, from)
	if err = errors.Join(err, file.Close()); err != nil {
		return fault.E("agent.unpack", fault.Unavailable, name, err)
	}
	return nil
}
