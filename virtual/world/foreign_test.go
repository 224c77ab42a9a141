package world

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/lab/zoneunit"
	"voltbus/virtual/kernel"
)

// withUnits returns an interpreter that runs FMUs, and a folder with those of FMI 2 and 3.
func withUnits(t *testing.T) (python, dir string) {
	t.Helper()
	python = interpreter(t)
	if err := exec.CommandContext(t.Context(), python, "-c", "import fmpy").Run(); err != nil { //nolint:gosec // the interpreter of this tree
		t.Skip("there is no fmpy; run make peers")
	}
	dir = t.TempDir()
	for _, version := range []int{2, 3} {
		_, err := zoneunit.Build(t.Context(), dir, version)
		if fault.Is(err, fault.Unavailable) {
			t.Skip(err)
		}
		must(t, err)
	}
	return python, dir
}

const mixed = `
world: {name: mixed, start: 2026-07-01T12:00:00Z, duration: 2h, seed: 1}
sites:
  - name: street
    models: [{name: weather, kind: weather}]
  - name: two
    models:
      - {name: thermostat, kind: thermostat, inputs: {temp: zone.temp, setpoint: 23}}
      - {name: zone, kind: fmu, file: zone2.fmu, parameters: {capacity: 1.5}, inputs: {outdoor: "street/weather.temp", "on": thermostat.on}}
  - name: three
    models:
      - {name: thermostat, kind: thermostat, inputs: {temp: zone.temp, setpoint: 23}}
      - {name: zone, kind: fmu, file: zone3.fmu, parameters: {capacity: 1.5, fault: 0}, inputs: {outdoor: "street/weather.temp", "on": thermostat.on}}
`

// inFolder parses a world whose files are in a folder.
func inFolder(t *testing.T, dir, python, text string) *File {
	t.Helper()
	f, problems := Parse(filepath.Join(dir, "world.yaml"), []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	f.World.Python = python
	return f
}

func TestUnitsOfFMI2And3AreModelsOfAWorld(t *testing.T) {
	python, dir := withUnits(t)
	var first, second, log bytes.Buffer
	a := run(t, inFolder(t, dir, python, mixed), Options{History: &first, Log: &log}, nil)
	b := run(t, inFolder(t, dir, python, mixed), Options{History: &second}, nil)
	if len(a.Failures) > 0 {
		t.Fatalf("%v\n%s", a.Failures, log.String())
	}
	if a.Digest != b.Digest || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs with one seed differ")
	}
	if !strings.Contains(log.String(), "a unit prints what it likes") {
		t.Error("what a unit prints is not in the log")
	}
	two, three, hot := temperaturesOf(t, first.String(), "two"), temperaturesOf(t, first.String(), "three"), 0
	if len(two) != 121 {
		t.Fatalf("%d temperatures", len(two))
	}
	for i := range two {
		if two[i] != three[i] {
			t.Fatalf("the same equations give %g °C by FMI 2 and %g °C by FMI 3", two[i], three[i])
		}
		if two[i] > 22.5 {
			hot++
		}
		if two[i] < 21.9 || two[i] > 23.8 {
			t.Errorf("the thermostat does not hold the unit: %g °C", two[i])
		}
	}
	if hot == 0 {
		t.Error("the weather did not reach the unit")
	}
}

func temperaturesOf(t *testing.T, history, site string) (out []float64) {
	t.Helper()
	for line := range strings.Lines(history) {
		if cells := strings.Split(line, ","); cells[1] == site+"/zone/temp" {
			out = append(out, number(t, cells[2]))
		}
	}
	return out
}

func TestAUnitThatCrashesDivergesOrFailsIsMarkedAndTheRunGoesOn(t *testing.T) {
	python, dir := withUnits(t)
	for code, want := range map[string]string{"1": "it has crashed", "2": "it diverges: output 1", "3": "fmi3DoStep"} {
		t.Run(want, func(t *testing.T) {
			var history bytes.Buffer
			r := run(t, inFolder(t, dir, python, strings.Replace(mixed, "fault: 0", "fault: "+code, 1)), Options{History: &history}, nil)
			if len(r.Failures) != 1 || r.Failures[0].Actor != "three/zone" || r.Failures[0].At < time.Hour || !strings.Contains(r.Failures[0].Reason, want) {
				t.Fatalf("%v", r.Failures)
			}
			if r.Simulated != 2*time.Hour || len(temperaturesOf(t, history.String(), "two")) != 121 {
				t.Error("the others ended with it")
			}
			if !strings.Contains(history.String(), "three/zone,,failed") || !strings.Contains(history.String(), ",bad\n") {
				t.Error("the failure is not in the history")
			}
		})
	}
}

func TestAUnitThatKeepsItsStateGoesOnFromACheckpoint(t *testing.T) {
	python, dir := withUnits(t)
	text, _, _ := strings.Cut(mixed, "  - name: three")
	whole := run(t, inFolder(t, dir, python, text), Options{}, nil)
	w, err := New(inFolder(t, dir, python, text), Options{})
	must(t, err)
	must(t, w.Run(t.Context(), time.Hour))
	saved, err := w.Save()
	must(t, err)
	must(t, w.Close())
	rest := run(t, inFolder(t, dir, python, text), Options{}, func(w *World) { must(t, w.Load(saved)) })
	if rest.Digest != whole.Digest {
		t.Error("the run that goes on differs from the whole one")
	}
	w, err = New(inFolder(t, dir, python, mixed), Options{})
	must(t, err)
	if _, err := w.Save(); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "three/zone") || !strings.Contains(err.Error(), "canSerializeFMUState") {
		t.Errorf("a unit that keeps no state was saved, or not named: %v", err)
	}
}

func TestWhatIsNoUnitIsTold(t *testing.T) {
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "text.fmu"), []byte("no zip"), 0o600))
	for file, want := range map[string]string{
		"":            "write the file of the FMU",
		"missing.fmu": "missing.fmu",
		"text.fmu":    "it is no FMU",
	} {
		_, problems := Parse(filepath.Join(dir, "w.yaml"), fmt.Appendf(nil, "sites: [{name: a, models: [{name: zone, kind: fmu, file: %q}]}]", file))
		if len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("%q: %v", file, problems)
		}
	}
}

const offices = `
world: {name: offices, start: 2026-07-01T08:00:00Z, duration: 6h, seed: 1}
sites:
  - name: office
    models:
      - name: building
        kind: energyplus
        file: small_office
        weather: usa_az_phoenix
        outputs: {temp: "Zone Mean Air Temperature/CORE_ZN", power: "Facility Total Electricity Demand Rate/Whole Building"}
        actuators: {setpoint: "Zone Temperature Control/Cooling Setpoint/CORE_ZN"}
        inputs: {setpoint: 24}
        commands: [setpoint]
`

func TestABuildingOfEnergyPlusIsAModelOfAWorld(t *testing.T) {
	python := interpreter(t)
	if err := exec.CommandContext(t.Context(), python, "-c", "import pyenergyplus.dataset").Run(); err != nil { //nolint:gosec // the interpreter of this tree
		t.Skip("there is no pyenergyplus; run make peers")
	}
	var history, log bytes.Buffer
	r := run(t, inFolder(t, t.TempDir(), python, offices), Options{History: &history, Log: &log}, func(w *World) {
		must(t, w.kernel.Schedule(kernel.Event{At: 3 * time.Hour, To: "office", Kind: kindCommand, Body: []byte(`{"point": "office/building/setpoint", "value": 27}`)}))
	})
	if len(r.Failures) > 0 || r.Commands != 1 {
		t.Fatalf("%v, %d commands\n%s", r.Failures, r.Commands, log.String())
	}
	var temps []float64
	for line := range strings.Lines(history.String()) {
		if cells := strings.Split(line, ","); cells[1] == "office/building/temp" {
			temps = append(temps, number(t, cells[2]))
		}
	}
	if len(temps) != 361 || temps[150] < 23.8 || temps[150] > 24.2 || temps[360] < 26.8 || temps[360] > 27.2 {
		t.Errorf("%d temperatures: %v", len(temps), temps)
	}
	broken := strings.Replace(offices, "CORE_ZN\", power", "CELLAR\", power", 1)
	w, err := New(inFolder(t, t.TempDir(), python, broken), Options{})
	must(t, err)
	if err := w.Run(t.Context(), 0); err == nil || !strings.Contains(err.Error(), "the model has no Zone Mean Air Temperature/CELLAR") {
		t.Errorf("%v", err)
	}
	must(t, w.Close())
	for bad, want := range map[string]string{
		"        weather: usa_az_phoenix\n": "weather: is missing",
		"Zone Mean Air Temperature/":        "outputs.temp",
		"Zone Temperature Control/Cool":     "actuators.setpoint",
		"        inputs: {setpoint: 24}\n":  "write its value at the start",
	} {
		_, problems := Parse("w.yaml", []byte(strings.Replace(offices, bad, "", 1)))
		if len(problems) != 1 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("without %q: %v", bad, problems)
		}
	}
}
