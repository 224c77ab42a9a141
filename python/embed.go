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

// rule holds the modules that functions of rules run with: only these, which need nothing else.
//
//go:embed src/voltbus/rule.py src/voltbus/_judging.py
var rule embed.FS

// Rule returns the modules with which a function judges readings, each with its name and its source, in the order in which they are loaded.
func Rule() ([][2]string, error) {
	list := [][2]string{{"voltbus", ""}}
	for _, name := range []string{"rule", "_judging"} {
		text, err := rule.ReadFile("src/voltbus/" + name + ".py")
		if err != nil {
			return nil, err
		}
		list = append(list, [2]string{"voltbus." + name, string(text)})
	}
	return list, nil
}

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
