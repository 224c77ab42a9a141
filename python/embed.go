// Package python embeds the wheel of the Python SDK, which the supervisor installs into each agent's environment.
package python

import (
	"embed"
	"errors"
	"io/fs"
	"path"
)

// dist holds the wheel; without "make sdk" only a placeholder stands there.
//
//go:embed all:dist
var dist embed.FS

// ErrNotBuilt says that the program was built without the SDK.
var ErrNotBuilt = errors.New("the Python SDK is not in this program; run make build, and start the program that it makes")

// Wheel returns the file name and the content of the SDK's wheel, which is for every platform and
// Python from 3.10 on. It fails with ErrNotBuilt. Safe for concurrent use.
func Wheel() (name string, content []byte, err error) { return wheel(dist) }

func wheel(files fs.FS) (name string, content []byte, err error) {
	found, err := fs.Glob(files, "dist/*.whl")
	if err != nil || len(found) == 0 {
		return "", nil, ErrNotBuilt
	}
	content, err = fs.ReadFile(files, found[0])
	return path.Base(found[0]), content, err
}
