package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Sparkplug starts sparkplug/edge.mjs, an edge node of the project sparkplug-client, and waits until it has published its
// births. The test fails if its packages are not there.
func Sparkplug(t testing.TB, args ...string) *Process {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("there is no Node.js (%v): install version 20 or later", err)
	}
	dir := filepath.Join(folder(), "sparkplug")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "sparkplug-client")); err != nil {
		t.Fatalf("the packages of the edge node are missing (%v): run `make peers`", err)
	}
	return start(t, program, append([]string{filepath.Join(dir, "edge.mjs")}, args...))
}
