package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// NodeJS returns the program node and the folder of the example that is an agent in JavaScript, with
// the packages that it needs. The test fails if they are not there.
func NodeJS(t testing.TB) (program, dir string) {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("there is no Node.js (%v): install version 20 or later", err)
	}
	dir = filepath.Join(folder(), "..", "..", "docs", "examples", "node")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@nats-io", "transport-node")); err != nil {
		t.Fatalf("the packages of the example in JavaScript are missing (%v): run `make peers`", err)
	}
	return program, dir
}
