package agents

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"voltbus/cmd/voltbus/shell"
	"voltbus/fault"
)

var (
	errNoProject = errors.New("has no pyproject.toml; name the folder of a Python project, a wheel or an archive, or begin with voltbus agent new")
	errNoPackage = errors.New("is no package; name a folder, a .whl, a .tar.gz or a .zip")
)

// leftOutNames are folders of a project specific to its author's machine.
var leftOutNames = map[string]bool{
	".git": true, ".venv": true, "venv": true, "__pycache__": true, ".mypy_cache": true, ".ruff_cache": true, ".pytest_cache": true,
	"node_modules": true, "build": true, "dist": true,
}

// pack builds the upload of an installation, in a file that is removed when closed.
func pack(source, wheels string) (io.ReadCloser, error) {
	file, err := os.CreateTemp("", "voltbus-agent-*")
	if err != nil {
		return nil, fmt.Errorf("make the upload: %w", err)
	}
	err = os.Remove(file.Name())
	zw := gzip.NewWriter(file)
	tw := tar.NewWriter(zw)
	if err == nil {
		err = packInto(tw, source, wheels)
	}
	if err = errors.Join(err, tw.Close(), zw.Close()); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

func packInto(tw *tar.Writer, source, wheels string) error {
	info, err := os.Stat(source)
	if err != nil {
		return shell.Usage(fmt.Errorf("read the package: %w", err))
	}
	switch {
	case info.IsDir():
		err = packFolder(tw, source)
	case strings.HasSuffix(source, ".whl") || strings.HasSuffix(source, ".tar.gz") || strings.HasSuffix(source, ".zip"):
		err = addFile(tw, source, "source/"+filepath.Base(source))
	default:
		err = fault.E("voltbus", fault.Invalid, source, errNoPackage)
	}
	if err != nil || wheels == "" {
		return err
	}
	files, err := filepath.Glob(filepath.Join(wheels, "*.whl"))
	if err == nil && len(files) == 0 {
		err = fault.E("voltbus", fault.Invalid, wheels, errors.New("holds no wheels"))
	}
	for _, f := range files {
		err = errors.Join(err, addFile(tw, f, "wheels/"+filepath.Base(f)))
	}
	return err
}

func addFile(tw *tar.Writer, file, name string) error {
	in, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil {
		err = tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: info.Size(), Mode: 0o600})
	}
	if err == nil {
		_, err = io.Copy(tw, in)
	}
	if err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	return nil
}

// packFolder adds a project to the upload as an archive that pip and uv understand.
func packFolder(tw *tar.Writer, dir string) error {
	if _, err := os.Stat(filepath.Join(dir, "pyproject.toml")); err != nil {
		return fault.E("voltbus", fault.Invalid, dir, errNoProject)
	}
	file, err := os.CreateTemp("", "voltbus-agent-*")
	if err != nil {
		return fmt.Errorf("make the upload: %w", err)
	}
	defer os.Remove(file.Name()) //nolint:errcheck // a file of the system's temporary folder
	defer file.Close()
	zw := gzip.NewWriter(file)
	inner := tar.NewWriter(zw)
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != dir && (leftOutNames[d.Name()] || strings.HasSuffix(d.Name(), ".egg-info")) {
			return filepath.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		return addFile(inner, name, path.Join("package-0", filepath.ToSlash(rel)))
	})
	if err = errors.Join(err, inner.Close(), zw.Close()); err != nil {
		return fmt.Errorf("read the package: %w", err)
	}
	return addFile(tw, file.Name(), "source/package-0.tar.gz")
}
