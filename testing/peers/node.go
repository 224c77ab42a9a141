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

// AsyncAPI returns the JSON Schema of documents of AsyncAPI 3.0 as its makers publish it. The test
// fails if it is not there.
func AsyncAPI(t testing.TB) []byte {
	t.Helper()
	_, dir := NodeJS(t)
	schema, err := os.ReadFile(filepath.Join(dir, "node_modules", "@asyncapi", "specs", "schemas", "3.0.0-without-$id.json"))
	if err != nil {
		t.Fatalf("the schema of AsyncAPI is missing (%v): run `make peers`", err)
	}
	return schema
}
