package peers

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Profiles returns the file of load profiles of SimBench (Fraunhofer IEE, University of Kassel and others; ODbL): a year of
// quarter hours of some ninety kinds of customers, partly from measurements. A line has a time of 2016, such as
// "01.01.2016 00:15", and values separated by semicolons; columns whose names end in _pload are active power, as parts
// of the highest. The package is installed for its data alone.
func Profiles(t testing.TB) string {
	t.Helper()
	find := exec.CommandContext(t.Context(), Python(t), "-c", "import importlib.util as u; print(u.find_spec('simbench').submodule_search_locations[0])")
	out, err := find.Output()
	if err != nil {
		t.Fatalf("no load profiles of SimBench (%v): run `make peers`", err)
	}
	return filepath.Join(strings.TrimSpace(string(out)), "networks", "1-complete_data-mixed-all-0-sw", "LoadProfile.csv")
}
