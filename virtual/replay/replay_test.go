package replay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/virtual/world"
)

var morning = time.Date(2026, 7, 1, 6, 0, 0, 0, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func minute(n int) time.Time { return morning.Add(time.Duration(n) * time.Minute) }

func TestCompare(t *testing.T) {
	then := []Decision{{minute(10), "a", 1.0}, {minute(11), "a", 1.0}, {minute(20), "a", nil}, {minute(5), "b", "auto"}}
	now := []Decision{{minute(10), "a", 1.0}, {minute(30), "a", nil}, {minute(5), "b", "auto"}, {minute(50), "c", true}}
	c := Compare(then, now, morning, minute(60), Limits{})
	want := []Difference{{"a", minute(20), minute(30), nil, 1.0}, {"c", minute(50), minute(60), nil, true}}
	if fmt.Sprint(c.Differences) != fmt.Sprint(want) {
		t.Errorf("the differences are %v", c.Differences)
	}
	if c.Points["b"] != 1 || fmt.Sprintf("%.3f", c.Points["a"]) != "0.833" || c.Counts["a"] != [2]int{2, 2} {
		t.Errorf("%+v", c)
	}
	if c := Compare(then, now, morning, minute(60), Limits{Slack: 10 * time.Minute}); len(c.Differences) != 0 {
		t.Errorf("differences within the slack: %v", c.Differences)
	}
	near := []Decision{{minute(10), "a", 1.04}, {minute(20), "a", nil}, {minute(5), "b", "auto"}}
	if c := Compare(then, near, morning, minute(60), Limits{Tolerance: 0.05}); len(c.Differences) != 0 {
		t.Errorf("differences within the tolerance: %v", c.Differences)
	}
	var text bytes.Buffer
	must(t, c.Text(&text))
	for _, line := range []string{"a: the same 83.3 % of the time, 2 changes then, 2 now", "2026-07-01T06:20:00Z for 10m0s: a: nothing then, 1 now"} {
		if !strings.Contains(text.String(), line) {
			t.Errorf("%q is not in\n%s", line, text.String())
		}
	}
}

// past is an hour in which a room got warmer, and an agent cooled above 24 °C.
type past struct{}

func (past) Readings(w io.Writer) error {
	fmt.Fprintln(w, "point,time,value,kind,quality")
	for i := range 60 {
		when := minute(i).Format(time.RFC3339Nano)
		fmt.Fprintf(w, "house/zone/on,%s,0,float,good\n", when)
		fmt.Fprintf(w, "house/zone/temp,%s,%g,float,good\n", when, 20.05+float64(i)/10)
	}
	return nil
}

func (past) Audit(w io.Writer) error {
	for i := 40; i < 60; i++ {
		fmt.Fprintf(w, `{"time":%q,"actor":"agent:cooling","action":"control.command","subject":"house/zone/on","outcome":"accepted","detail":{"level":12,"value":1}}`+"\n", minute(i).Format(time.RFC3339Nano))
		fmt.Fprintf(w, `{"time":%q,"actor":"node","action":"control.command-ended","subject":"house/zone/on","outcome":"ok","detail":{"requester":"agent:cooling","cause":"replaced"}}`+"\n", minute(i).Format(time.RFC3339Nano))
	}
	fmt.Fprintln(w, `{"time":"2026-07-01T06:50:00Z","actor":"agent:other","action":"control.command","subject":"house/zone/on","outcome":"accepted","detail":{"value":0}}`)
	return nil
}

const cooling = `
from voltbus import Agent, Command, Config, Sample, Wants, on

class Settings(Config):
    limit: float = 24.0

class Cooling(Agent[Settings]):
    wants = Wants(subscribe=["house/**"], command=[Command("house/zone/on", 12)])

    @on("house/zone/temp")
    async def look(self, sample: Sample) -> None:
        if sample.value > self.settings.limit:
            await self.write("house/zone/on", 1.0, level=12)
`

func TestARecordingIsPlayedToAnAgentAndItsDecisionsCompared(t *testing.T) {
	root, err := filepath.Abs("../..")
	must(t, err)
	python := filepath.Join(root, ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no environment for Python; run make sdk")
	}
	dir := t.TempDir()
	t.Setenv("PYTHONPATH", filepath.Join(root, "python", "src"))
	must(t, os.WriteFile(filepath.Join(dir, "cooling.py"), []byte(cooling), 0o600))
	head := &Head{Node: "house", From: morning, To: minute(60), Agent: "cooling", Points: []Point{
		{"house/zone/on", "house/zone", true}, {"house/zone/temp", "house/zone", false},
	}}
	must(t, Record(filepath.Join(dir, "r"), head, past{}))
	if err := Record(filepath.Join(dir, "r"), head, past{}); !fault.Is(err, fault.Conflict) {
		t.Errorf("a recording was written over: %v", err)
	}
	r, err := Open(filepath.Join(dir, "r"))
	must(t, err)
	if len(r.Scans) != 60 || len(r.Scans[0].Points) != 2 || len(r.Then) != 20 {
		t.Fatalf("%d scans, %d decisions", len(r.Scans), len(r.Then))
	}
	o := Options{Class: "cooling:Cooling", Folder: dir, Python: python, World: world.Options{Log: os.Stderr}}
	same, err := Run(t.Context(), r, nil, o)
	must(t, err)
	if len(same.Comparison.Differences) != 0 || len(same.Now) != 1 || len(same.World.Failures) != 0 {
		t.Errorf("%+v", same)
	}
	o.Config = map[string]any{"limit": 25.0}
	other, err := Run(t.Context(), r, nil, o)
	must(t, err)
	want := []Difference{{"house/zone/on", minute(40), minute(50), 1.0, nil}}
	if fmt.Sprint(other.Comparison.Differences) != fmt.Sprint(want) {
		t.Errorf("the differences are %v", other.Comparison.Differences)
	}
	again, err := Run(t.Context(), r, other.Now, o)
	must(t, err)
	if len(again.Comparison.Differences) != 0 {
		t.Errorf("two replays of one agent differ: %v", again.Comparison.Differences)
	}
}

func TestWhatIsNoRecordingSaysSo(t *testing.T) {
	if _, err := Open(t.TempDir()); !fault.Is(err, fault.NotFound) || !strings.Contains(err.Error(), "voltbus replay record") {
		t.Errorf("%v", err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{headFile: "{}", readingsFile: "point,time\na,yesterday\n", auditFile: ""} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	if _, err := Open(dir); !fault.Is(err, fault.Corrupt) {
		t.Errorf("%v", err)
	}
}

func TestValuesOfAnExport(t *testing.T) {
	for _, c := range []struct {
		kind, cell string
		want       any
	}{
		{"float", "1.5", 1.5},
		{"int", "3", 3.0},
		{"bool", "true", true},
		{"bool", "false", false},
		{"bool", "0", false},
		{"text", "auto", "auto"},
		{"text", "12", "12"},
		{"float", "", nil},
		{"float", "NaN", nil},
		{"bool", "", nil},
	} {
		if got := valueOf(c.kind, c.cell); got != c.want {
			t.Errorf("%+v is %v", c, got)
		}
	}
}
