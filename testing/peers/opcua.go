package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// OPCUA starts opcua_peer.py, a server made of asyncua, with more arguments, such as "--user". It is stopped when the test ends.
func OPCUA(t testing.TB, args ...string) *Process {
	t.Helper()
	return start(t, Python(t), append([]string{filepath.Join(folder(), "opcua_peer.py")}, args...))
}

// NodeOPCUA starts nodeopcua/server.mjs, a server made of node-opcua. It is stopped when the test ends.
func NodeOPCUA(t testing.TB, args ...string) *Process {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("there is no Node.js (%v): install version 20 or later", err)
	}
	dir := filepath.Join(folder(), "nodeopcua")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "node-opcua")); err != nil {
		t.Fatalf("the packages of the server are missing (%v): run `make peers`", err)
	}
	return start(t, program, append([]string{filepath.Join(dir, "server.mjs")}, args...))
}
