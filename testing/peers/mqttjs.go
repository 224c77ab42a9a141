package peers

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// MQTTJS returns the command of mqttjs/client.mjs, a client of mqtt.js. The test fails if its packages are not there.
func MQTTJS(t testing.TB) []string {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("there is no Node.js (%v): install version 20 or later", err)
	}
	dir := filepath.Join(folder(), "mqttjs")
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "mqtt")); err != nil {
		t.Fatalf("the packages of mqtt.js are missing (%v): run `make peers`", err)
	}
	return []string{program, filepath.Join(dir, "client.mjs")}
}
