package testbed

import (
	"bytes"
	"context"
	_ "embed" // for the world and its agents
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/zoneunit"
	"voltbus/python"
	"voltbus/virtual/world"
)

//go:embed testbed4.yaml
var testbedWorld []byte

//go:embed testbed4.py
var testbedAgents []byte

// testbed4 is the published testbed: a master, four nodes and four building models for twelve hours.
func testbed4() experiment.Experiment {
	return experiment.Experiment{
		Name:     "testbed-4",
		Title:    "A master, four nodes and four building models for twelve hours",
		Question: "How long does it take in real time to run a master, four nodes and four building models for twelve virtual hours?",
		Source:   appendix + ": one master, four model nodes and four building models (Modelica, exported as FMUs) in virtual time; 12 simulated hours took about 60 minutes, and a building was allotted 500 MB",
		Method: []string{
			"Nodes register by their first report, and report the temperature and the state of their unit each minute. The master decides each 10 minutes, the warmest rooms first; nodes answer with done or an error.",
			"Master and buildings are agents in Python, which run on a node as they are. Each site is a process, on the SDK's node in memory; the clock waits for all of them. The time includes the start of the five processes.",
			"The models are equations of second order (air and mass), each with other parameters, below a summer day; steps of 10 seconds, Runge–Kutta 4. Links have a delay of 20 to 30 ms.",
			"In the first case thermostats switch, and there are no agents. In the last one each building is an FMU of FMI 2.0 that is compiled here (first order, C), in a process of its own, and asked each 10 seconds.",
		},
		Limits: []string{
			"The published testbed ran whole programs of its platform and models made from Modelica, on other hardware. Its figures are context.",
			"A node here is the one in memory of the SDK: grants, commands, leases and calls are those of a node, its log, store and uplink are not there.",
		},
		Metric: experiment.Metric{Name: "real time", Unit: "s", Axis: "case"},
		Published: []experiment.Published{
			{Case: pythonCase(), Figures: publishedHour()},
			{Case: unitCase(), Figures: publishedHour()},
		},
		Settings: []experiment.Setting{
			{Name: "length", Default: "12h", Quick: "2h", Doc: "virtual time"},
			{Name: "python", Default: "python3", Doc: "interpreter of the agents, with msgspec; none to leave them out"},
			{Name: "units", Default: "true", Doc: "run the FMUs, too; they need a compiler for C, and fmpy in the interpreter"},
		},
		Run: func(ctx context.Context, b *experiment.Bench) error {
			if err := runTestbed(ctx, b, experiment.Case{Name: "thermostats, built-in models", X: 1}, withThermostats); err != nil {
				return err
			}
			if b.Text("python") == "none" {
				b.Note("The agents in Python were left out.")
				return nil
			}
			if err := runTestbed(ctx, b, pythonCase(), nil); err != nil || !b.Flag("units") {
				return err
			}
			return runTestbed(ctx, b, unitCase(), withUnits)
		},
	}
}

func publishedHour() []experiment.Figure {
	return []experiment.Figure{{Label: "PNNL FY17, whole programs and FMUs", Value: time.Hour.Seconds()}}
}

func unitCase() experiment.Case { return experiment.Case{Name: "agents in Python, FMUs", X: 3} }

// withUnits has FMUs take the place of the built-in models. It compiles them into the folder of the world.
func withUnits(ctx context.Context, dir string, f *world.File) error {
	file, err := zoneunit.Build(ctx, dir, 2)
	if err != nil {
		return err
	}
	for i := range f.Sites {
		for k := range f.Sites[i].Models {
			m := &f.Sites[i].Models[k]
			if m.Name == "zone" {
				m.Kind, m.File, m.Parameters = "fmu", file, map[string]float64{"capacity": 2, "resistance": 2}
				delete(m.Inputs, "gains")
			}
		}
	}
	return nil
}

func pythonCase() experiment.Case {
	return experiment.Case{Name: "agents in Python, built-in models", X: 2}
}

// withThermostats leaves out all agents: units are switched by thermostats.
func withThermostats(_ context.Context, _ string, f *world.File) error {
	for i := range f.Sites {
		s := &f.Sites[i]
		s.Agents = nil
		for k := range s.Models {
			if s.Models[k].Name == "zone" {
				s.Models[k].Commands, s.Models[k].Inputs["on"] = nil, "thermostat.on"
				s.Models = slices.Insert(s.Models, k, world.Model{Name: "thermostat", Kind: "thermostat", Inputs: map[string]any{"temp": "zone.temp", "setpoint": 23.0}})
				break
			}
		}
	}
	return nil
}

// variant changes the world of the testbed, whose files are in a folder.
type variant func(ctx context.Context, dir string, f *world.File) error

// runTestbed measures a case, and draws the temperatures of its first repeat.
func runTestbed(ctx context.Context, b *experiment.Bench, c experiment.Case, change variant) error {
	var history bytes.Buffer
	err := b.Measure(ctx, c, func(ctx context.Context, t *experiment.Trial) error {
		history.Reset()
		return testbedOnce(ctx, b, t, change, &history)
	})
	if err != nil {
		return err
	}
	p, err := temperatures(&history, "zone")
	p.Title = "Room temperatures, " + c.Name
	b.Plot(p)
	return err
}

// testbedOnce runs the world once.
func testbedOnce(ctx context.Context, b *experiment.Bench, t *experiment.Trial, change variant, history *bytes.Buffer) (err error) {
	if err := os.WriteFile(filepath.Join(t.Dir, "testbed4.py"), testbedAgents, 0o600); err != nil {
		return err
	}
	sdk, err := unpackSDK(t.Dir)
	if err != nil {
		return err
	}
	f, problems := world.Parse(filepath.Join(t.Dir, "testbed4.yaml"), testbedWorld)
	if len(problems) > 0 {
		return fault.E("study.testbed-4", fault.Internal, "", errors.New(problems[0].String()))
	}
	f.World.Duration, f.World.Python = b.Duration("length"), b.Text("python")
	if change != nil {
		if err := change(ctx, t.Dir, f); err != nil {
			return err
		}
	}
	seed := uint64(b.Seed()) //nolint:gosec // any seed is one; all repeats are equal
	var log bytes.Buffer
	w, err := world.New(f, world.Options{Seed: &seed, History: history, SDK: sdk, Log: &log})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Run(ctx, 0); err != nil {
		return fmt.Errorf("%w\n%s", err, log.String())
	}
	r := w.Result()
	if len(r.Failures) > 0 {
		return fault.E("study.testbed-4", fault.Unavailable, r.Failures[0].Actor, errors.New(r.Failures[0].Reason))
	}
	tellWorld(b, t, r)
	return nil
}

// unpackSDK writes the SDK of this program into a folder; "" if the program has none, and the interpreter may have it.
func unpackSDK(dir string) (string, error) {
	name, content, err := python.Wheel()
	if errors.Is(err, python.ErrNotBuilt) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, name)
	return file, os.WriteFile(file, content, 0o600)
}

// tellWorld records what a run of a world was.
func tellWorld(b *experiment.Bench, t *experiment.Trial, r *world.Result) {
	t.Value(r.Took.Seconds())
	t.Also("virtual time", "× real", r.Simulated.Seconds()/r.Took.Seconds())
	t.Also("events", "", float64(r.Tally.Events))
	t.Also("readings", "", float64(r.Readings))
	t.Also("commands", "", float64(r.Commands))
	b.Note("Repeat %d of %s had the digest %.16s; runs with one digest are equal.", t.Repeat+1, r.World, r.Digest)
}

// temperatures makes the figure of rooms over time from a history: the output temp of a model of each site.
func temperatures(history *bytes.Buffer, model string) (experiment.Plot, error) {
	p := experiment.Plot{X: experiment.Axis{Name: "virtual time, h", Even: true}, Y: experiment.Axis{Name: "room temperature, °C", Even: true}}
	var begin time.Time
	least := math.Inf(1)
	for line := range strings.Lines(history.String()) {
		cells := strings.Split(strings.TrimSpace(line), ",")
		site, found := strings.CutSuffix(cells[1], "/"+model+"/temp")
		if !found || len(cells) < 4 {
			continue
		}
		at, errAt := time.Parse(time.RFC3339Nano, cells[0])
		value, errValue := strconv.ParseFloat(cells[2], 64)
		if err := errors.Join(errAt, errValue); err != nil {
			return p, err
		}
		if begin.IsZero() {
			begin = at
		}
		if at.Sub(begin)%(5*time.Minute) != 0 {
			continue
		}
		i := slices.IndexFunc(p.Lines, func(l experiment.Line) bool { return l.Label == site })
		if i < 0 {
			i, p.Lines = len(p.Lines), append(p.Lines, experiment.Line{Label: site})
		}
		p.Lines[i].Dots = append(p.Lines[i].Dots, experiment.Dot{X: at.Sub(begin).Hours(), Y: value})
		least = min(least, value)
	}
	if len(p.Lines) > 0 {
		p.Y.From = math.Floor(least)
	}
	return p, nil
}
