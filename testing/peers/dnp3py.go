package peers

import (
	"path/filepath"
	"testing"
)

// DNP3py starts dnp3py_peer.py with arguments, such as "outstation", and waits until it is ready.
// It is stopped when the test ends.
func DNP3py(t testing.TB, args ...string) *Process {
	t.Helper()
	script := filepath.Join(folder(), "dnp3py_peer.py")
	return start(t, Python(t), append([]string{script}, args...))
}
