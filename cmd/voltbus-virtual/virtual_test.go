package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/virtual/whole"
	"voltbus/virtual/world"
)

// program returns the program under test. A compilation for it takes minutes, so it has a target of its own.
func program(t *testing.T) string {
	t.Helper()
	file := os.Getenv("VOLTBUS_VIRTUAL")
	if file == "" {
		t.Skip("it needs the program of whole nodes in virtual time: run make test-virtual")
	}
	return file
}

// run runs the world of the file, and returns its result and its history.
func run(t *testing.T, file, nodes string) (*world.Result, string) {
	t.Helper()
	f, err := world.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var history, log bytes.Buffer
	w, err := world.New(f, world.Options{Nodes: nodes, History: &history, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Run(t.Context(), 0); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	w.Settle()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	r := w.Result()
	if len(r.Failures) > 0 || r.Whole == nil {
		t.Fatalf("failures: %+v\n%s", r.Failures, log.String())
	}
	return r, history.String()
}

// at returns the moments at which a model took a value.
func at(t *testing.T, history, point, value string, start time.Time) (moments []time.Duration) {
	t.Helper()
	for line := range strings.Lines(history) {
		when, what, _ := strings.Cut(strings.TrimSpace(line), ",")
		if what != point+","+value+",commanded" {
			continue
		}
		moment, err := time.Parse(time.RFC3339Nano, when)
		if err != nil {
			t.Fatal(err)
		}
		moments = append(moments, moment.Sub(start))
	}
	return moments
}

func has(events []whole.Event, node, action string, from, to time.Duration) bool {
	for _, e := range events {
		if e.Node == node && e.Action == action && e.At >= from && e.At < to {
			return true
		}
	}
	return false
}

func TestWholeNodesFollowTheClockOfTheWorld(t *testing.T) {
	r, history := run(t, "testdata/campus.yaml", program(t))
	if r.Simulated != 90*time.Minute || len(r.Whole.Nodes) != 3 {
		t.Errorf("%s of %d nodes passed", r.Simulated, len(r.Whole.Nodes))
	}
	for _, n := range r.Whole.Nodes {
		// Each minute, a scan reads two outputs of the weather, three of the zone, and what the zone is commanded.
		want := map[string]uint64{"north": 90 * 6, "south": 90 * 6}[n.Name]
		if n.Samples != want || n.Missing != 0 || n.Parent != "" && n.Above != want {
			t.Errorf("%+v, want %d samples", n, want)
		}
	}
	if !has(r.Whole.Events, "campus", "child.lost", 20*time.Minute, 25*time.Minute) || !has(r.Whole.Events, "campus", "child.connected", 80*time.Minute, 85*time.Minute) {
		t.Error("the campus does not say that the north was away for an hour")
	}
	if on := at(t, history, "north/zone/on", "1", r.Start); len(on) != 1 || on[0] < 5*time.Minute || on[0] > 6*time.Minute {
		t.Errorf("the order came at %v", on)
	}
	if off := at(t, history, "north/zone/on", "0", r.Start); len(off) != 1 || off[0] < 15*time.Minute || off[0] > 16*time.Minute {
		t.Errorf("the lease ended at %v", off)
	}
	if t.Failed() {
		for _, e := range r.Whole.Events {
			t.Logf("%+v", e)
		}
	}
}

func TestTheCommandLineTellsWhatWholeNodesHave(t *testing.T) {
	beside := program(t)
	command := filepath.Join(filepath.Dir(beside), "voltbus")
	file := filepath.Join(t.TempDir(), "two.yaml")
	const two = `
world: {name: two, duration: 3m, seed: 1}
sites:
  - {name: campus, node: whole}
  - name: north
    node: whole
    parent: campus
    models: [{name: weather, kind: weather}]
`
	if err := os.WriteFile(file, []byte(two), 0o600); err != nil {
		t.Fatal(err)
	}
	told, err := exec.CommandContext(t.Context(), command, "world", "run", file).CombinedOutput()
	if err != nil || strings.Contains(string(told), "FAILED") || !strings.Contains(string(told), " of them at campus, 0 missing") {
		t.Errorf("%v\n%s", err, told)
	}
}
