package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/lab/experiment"
	"voltbus/testing/peers"
)

// interpreter returns a Python with what the SDK needs, or skips.
func interpreter(t *testing.T) string {
	t.Helper()
	python := filepath.Join(peers.Root(), ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no environment for Python; run make sdk")
	}
	t.Setenv("PYTHONPATH", filepath.Join(peers.Root(), "python", "src"))
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return python
}

func TestTestbed4RunsTwiceTheSameAndDrawsItsFourTemperatures(t *testing.T) {
	r, err := experiment.Execute(t.Context(), testbed4(), experiment.Options{
		Repeats: 2, Seed: 1, Set: map[string]string{"length": "3h", "python": interpreter(t), "units": "false"}, Dir: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]int{}
	for _, n := range r.Notes {
		_, digest, _ := strings.Cut(n, "digest ")
		digests[digest]++
	}
	if len(r.Notes) != 4 || len(digests) != 2 {
		t.Errorf("two runs with one seed differ: %q", r.Notes)
	}
	if len(r.Plots) != 2 {
		t.Fatalf("%d plots", len(r.Plots))
	}
	for _, p := range r.Plots {
		if len(p.Lines) != 4 || p.Y.From < 15 {
			t.Errorf("%s: %d lines, from %g °C", p.Title, len(p.Lines), p.Y.From)
		}
		for _, l := range p.Lines {
			if len(l.Dots) != 37 {
				t.Errorf("%s, %s: %d temperatures", p.Title, l.Label, len(l.Dots))
			}
		}
	}
	last := r.Cases[len(r.Cases)-1]
	if len(last.Published) != 1 || last.Published[0].Value != 3600 {
		t.Errorf("the published hour is not beside %+v", last)
	}
	for _, also := range last.Also {
		if also.Name == "commands" && also.Values[0] == 0 {
			t.Error("the master commanded nothing")
		}
	}
}
