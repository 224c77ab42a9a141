package world

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/virtual/model"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// run makes a world of a text and runs it to its end.
func run(t *testing.T, f *File, o Options, change func(w *World)) *Result {
	t.Helper()
	w, err := New(f, o)
	must(t, err)
	defer func() { must(t, w.Close()) }()
	if change != nil {
		change(w)
	}
	must(t, w.Run(t.Context(), 0))
	return w.Result()
}

func parsed(t *testing.T, text string) *File {
	t.Helper()
	f, problems := Parse("testdata/world.yaml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return f
}

func four(t *testing.T) *File {
	t.Helper()
	f, err := Read("testdata/four.yaml")
	must(t, err)
	return f
}

func TestFourBuildingsForTwelveHours(t *testing.T) {
	var first, second, other bytes.Buffer
	seed := uint64(2)
	a := run(t, four(t), Options{History: &first}, nil)
	b := run(t, four(t), Options{History: &second}, nil)
	c := run(t, four(t), Options{History: &other, Seed: &seed}, nil)
	if a.Digest != b.Digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs with one seed differ")
	}
	if a.Digest == c.Digest || c.Seeds[0].Seed != 2 {
		t.Error("another seed makes the same run, or is not told")
	}
	if a.Simulated != 12*time.Hour || a.Sites != 5 || len(a.Failures) > 0 {
		t.Errorf("%+v", a)
	}
	temps := 0
	for line := range strings.Lines(first.String()) {
		var when, temp string
		cells := strings.Split(strings.TrimSpace(line), ",")
		when, temp = cells[0], cells[2]
		if !strings.HasSuffix(cells[1], "/zone/temp") {
			continue
		}
		temps++
		if v := number(t, temp); when > "2026-07-01T09" && (v < 22.2 || v > 23.8) {
			t.Fatalf("the thermostat does not hold the room: %s", line)
		}
	}
	if want := 4 * (12*60 + 1); temps != want {
		t.Errorf("%d temperatures were reported, want %d", temps, want)
	}
}

func number(t *testing.T, text string) (v float64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestARunGoesOnFromACheckpointAndBranches(t *testing.T) {
	whole := run(t, four(t), Options{}, nil)
	w, err := New(four(t), Options{})
	must(t, err)
	must(t, w.Run(t.Context(), 5*time.Hour+7*time.Second))
	saved, err := w.Save()
	must(t, err)
	same := run(t, four(t), Options{}, func(w *World) { must(t, w.Load(saved)) })
	if same.Digest != whole.Digest || same.Readings != whole.Readings {
		t.Error("the run that goes on differs from the whole one")
	}
	warmer := four(t)
	warmer.Sites[1].Models[0].Inputs["setpoint"] = 25.0
	branch := run(t, warmer, Options{}, func(w *World) { must(t, w.Load(saved)); w.Reseed(9) })
	if len(branch.Seeds) != 2 || branch.Seeds[1].From != 5*time.Hour+7*time.Second {
		t.Errorf("the seeds are %v", branch.Seeds)
	}
	other := four(t)
	other.World.Name = "other"
	w, err = New(other, Options{})
	must(t, err)
	if err := w.Load(saved); !fault.Is(err, fault.Invalid) {
		t.Errorf("the run of another world was loaded: %v", err)
	}
	if err := w.Load([]byte("{}")); err == nil {
		t.Error("nothing was loaded")
	}
}

// breaking has a state that grows without limit, or panics.
type breaking struct{ panics bool }

func (b breaking) Begin() []float64 { return []float64{1} }

func (b breaking) Slope(_ float64, x, _, dx []float64) {
	if b.panics {
		panic("the table of the chiller ends at 40 °C")
	}
	dx[0] = x[0]
}

func (b breaking) Output(_ float64, x, _, y []float64) { y[0], y[1], y[2] = x[0], x[0], x[0] }

func TestAModelThatDivergesOrPanicsIsMarkedAndTheRunGoesOn(t *testing.T) {
	var history bytes.Buffer
	f := four(t)
	r := run(t, f, Options{History: &history}, func(w *World) {
		for i, panics := range []bool{false, true} {
			part := w.plants[fmt.Sprintf("building-%d", i+1)].parts[1]
			part.model = model.Of(part.model.Kind, breaking{panics}, f.World.Start, model.Method{Step: time.Second * 10})
		}
	})
	if len(r.Failures) != 2 || r.Simulated != 12*time.Hour {
		t.Fatalf("%+v", r)
	}
	var text bytes.Buffer
	must(t, r.Text(&text))
	for _, want := range []string{"building-1/zone: zone: it diverges", "building-2/zone: it panicked: the table of the chiller"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in\n%s", want, text.String())
		}
	}
	if !strings.Contains(history.String(), "building-1/zone,,failed") || strings.Count(history.String(), "building-3/zone/temp") != 721 {
		t.Error("the failure is not in the history, or the others ended with it")
	}
}

// interpreter returns a Python with the SDK and what it needs, or skips.
func interpreter(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	must(t, err)
	python := filepath.Join(root, ".venv", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		t.Skip("there is no environment for Python; run make sdk")
	}
	t.Setenv("PYTHONPATH", filepath.Join(root, "python", "src"))
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	return python
}

const campus = `
world: {name: campus, duration: 2h, seed: 5}
sites:
  - name: master
    path: [.]
    agents: [{name: master, class: "cooling:Master"}]
  - name: house
    copies: 2
    spread: 0.2
    path: [.]
    models: [{name: zone, kind: zone, parameters: {rated: 6}, commands: ["on"]}]
    agents: [{name: building, class: "cooling:Building"}]
links:
  - {from: master, to: "house-*", delay: 50ms, loss: 0.05}
`

func TestAgentsOfSeveralSitesFollowTheClock(t *testing.T) {
	python := interpreter(t)
	var digests [2]string
	for i := range digests {
		f := parsed(t, campus)
		f.World.Python = python
		var log, history bytes.Buffer
		r := run(t, f, Options{Log: &log, History: &history}, nil)
		digests[i] = r.Digest
		if len(r.Failures) > 0 || len(r.Told) > 0 || r.Commands < 4 || log.Len() > 0 {
			t.Fatalf("%d commands, failures %v, told %v, log:\n%s", r.Commands, r.Failures, r.Told, log.String())
		}
		lost := uint64(0)
		for _, l := range r.Links {
			lost += l.Lost
			if l.Sent == 0 {
				t.Errorf("%s → %s carried nothing", l.From, l.To)
			}
		}
		if lost == 0 {
			t.Error("nothing was lost")
		}
		last := history.String()[strings.LastIndex(history.String(), "house-1/zone/temp,"):]
		if v := number(t, strings.Split(last, ",")[1]); v > 24 {
			t.Errorf("the house is at %g °C", v)
		}
	}
	if digests[0] != digests[1] {
		t.Error("two runs with one seed differ")
	}
}

func TestAProcessThatEndsIsMarkedAndTheRunGoesOn(t *testing.T) {
	python := interpreter(t)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "odd.py"), []byte(`
import os, time
from voltbus import Agent, Config, every

class Dies(Agent[Config]):
    @every(minutes=10, wait=True)
    async def die(self) -> None:
        os._exit(3)

class Sleeps(Agent[Config]):
    @every(minutes=10, wait=True)
    async def wait(self) -> None:
        time.sleep(3600)
`), 0o600))
	f := parsed(t, strings.ReplaceAll(`
world: {duration: 1h}
sites:
  - {name: a, path: [DIR], agents: [{name: x, class: "odd:Dies"}]}
  - {name: b, path: [DIR], agents: [{name: x, class: "odd:Sleeps"}]}
  - {name: c, models: [{name: room, kind: room}]}
`, "DIR", dir))
	f.World.Python = python
	r := run(t, f, Options{Patience: 3 * time.Second}, nil)
	if len(r.Failures) != 2 || r.Failures[0].At != 10*time.Minute || r.Simulated != time.Hour {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"its process has ended", "did not come to rest within 3s of real time, they wait at " + dir + "/odd.py:13: time.sleep(3600);"} {
		if !strings.Contains(r.Failures[i].Reason, want) {
			t.Errorf("%v does not say %q", r.Failures[i], want)
		}
	}
	if len(r.Told) != 1 || r.Told[0] != (Told{"b", dir + "/odd.py:13: time.sleep() in wait"}) {
		t.Errorf("the call is not told: %v", r.Told)
	}
	w, err := New(f, Options{})
	must(t, err)
	if _, err := w.Save(); !fault.Is(err, fault.Unavailable) {
		t.Errorf("agents were saved: %v", err)
	}
}

func TestAgentsThatCannotStartSayWhy(t *testing.T) {
	python := interpreter(t)
	for want, change := range map[string]func(f *File){
		"world.python":                  func(f *File) { f.World.Python = "/nowhere/python" },
		"there is no such module":       func(f *File) { f.Sites[0].Agents[0].Class = "missing:Agent" },
		"cooling has no Chef; there is": func(f *File) { f.Sites[0].Agents[0].Class = "cooling:Chef" },
	} {
		f := parsed(t, campus)
		f.World.Python = python
		change(f)
		w, err := New(f, Options{})
		must(t, err)
		err = w.Run(t.Context(), 0)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
		must(t, w.Close())
	}
}

func TestWhoHearsWhat(t *testing.T) {
	for _, c := range []struct {
		pattern, subject string
		hears            bool
	}{
		{"live.scan.>", "live.scan.a.b", true},
		{"live.scan.>", "live.scan", false},
		{"msg.*.on", "msg.a.on", true},
		{"msg.*.on", "msg.a.on.x", false},
		{"msg.*.on", "msg.a", false},
		{"msg.a.on", "msg.b.on", false},
		{">", "a", true},
	} {
		if hears(strings.Split(c.pattern, "."), c.subject) != c.hears {
			t.Errorf("%s and %s: not %t", c.pattern, c.subject, c.hears)
		}
	}
}

func TestEveryProblemOfAFileIsTold(t *testing.T) {
	data, err := os.ReadFile("testdata/world.bad.yaml")
	must(t, err)
	want, err := os.ReadFile("testdata/world.bad.txt")
	must(t, err)
	_, problems := Parse("world.bad.yaml", data)
	var got strings.Builder
	for _, p := range problems {
		got.WriteString(p.String() + "\n")
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		must(t, os.WriteFile("testdata/world.bad.txt", []byte(got.String()), 0o600))
	}
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}

func TestAThousandSites(t *testing.T) {
	f := four(t)
	f.World.Duration = 10 * time.Minute
	f.Sites[1].Copies = 1000
	r := run(t, f, Options{}, nil)
	if r.Sites != 1001 || len(r.Links) != 2000 || len(r.Failures) > 0 {
		t.Errorf("%d sites, %d links, failures %v", r.Sites, len(r.Links), r.Failures)
	}
}

func BenchmarkFourBuildingsForTwelveHours(b *testing.B) {
	f, err := Read("testdata/four.yaml")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(f, Options{})
		if err == nil {
			err = w.Run(b.Context(), 0)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}
