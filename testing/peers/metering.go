package peers

import (
	"path/filepath"
	"testing"
)

// MeteringSystem starts spyne_mds.py, a metering data system that serves SOAP 1.1 at /soap11 and SOAP 1.2 at /soap12, with
// more arguments, such as "--broken", "3". It is stopped when the test ends.
func MeteringSystem(t testing.TB, args ...string) *Process {
	t.Helper()
	return start(t, Python(t), append([]string{filepath.Join(folder(), "spyne_mds.py")}, args...))
}
