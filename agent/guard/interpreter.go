package guard

import (
	"os"
	"path/filepath"

	"voltbus/agent/claim"
)

// Interpreter returns the folders that a program needs. Its file may be a link: that of a virtual environment
// points to the Python that it was created from.
func Interpreter(program string) []string {
	var folders []string
	// Python locates its environment by the name under which it was called.
	environment := filepath.Dir(filepath.Dir(program))
	if _, err := os.Stat(filepath.Join(environment, "pyvenv.cfg")); err == nil {
		folders = append(folders, environment)
	}
	target, err := filepath.EvalSymlinks(program)
	if err != nil || filepath.Base(filepath.Dir(target)) != "bin" {
		return folders
	}
	if prefix := filepath.Dir(filepath.Dir(target)); prefix != "/" {
		folders = append(folders, prefix)
	}
	return folders
}

// Closed reports whether other users may not come to a file.
func Closed(file string) bool { return closedTo(filepath.Dir(file)) != "" }

// Mapped reports whether the users exist in this container.
func Mapped(users claim.Range) bool { return mapped(users.First, users.First+users.Count-1) }
