package peers

import (
	"encoding/json"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// SunSpec is an inverter with SunSpec models (sunspec_peer.py), and another client of it.
type SunSpec struct{ *Process }

// SunSpecPoint is a point as pysunspec2 reads it. Value is nil if the device does not have it.
type SunSpecPoint struct {
	Model    int
	Path     string
	Value    any
	Writable bool
}

// StartedSunSpec starts the inverter. It is stopped when the test ends.
func StartedSunSpec(t testing.TB) *SunSpec {
	t.Helper()
	return &SunSpec{start(t, Python(t), []string{filepath.Join(folder(), "sunspec_peer.py")})}
}

// Read returns what pysunspec2 reads from the inverter.
func (s *SunSpec) Read(t testing.TB) (list []SunSpecPoint) {
	t.Helper()
	_, port, _ := net.SplitHostPort(s.Addr)
	out, err := exec.CommandContext(t.Context(), Python(t), filepath.Join(folder(), "sunspec_peer.py"), "read", port).Output()
	if err != nil {
		t.Fatalf("read with pysunspec2: %v", err)
	}
	for line := range strings.Lines(string(out)) {
		var p SunSpecPoint
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("pysunspec2 says %q: %v", line, err)
		}
		list = append(list, p)
	}
	return list
}

// SunSpecDefinitions is the folder with the definitions of models that pysunspec2 has.
func SunSpecDefinitions(t testing.TB) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), Python(t), "-c", "import sunspec2, pathlib; print(pathlib.Path(sunspec2.__file__).parent / 'models' / 'json')").Output()
	if err != nil {
		t.Fatalf("find the definitions of pysunspec2: %v", err)
	}
	return strings.TrimSpace(string(out))
}
