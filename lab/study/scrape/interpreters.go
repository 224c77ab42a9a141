package scrape

import (
	"cmp"
	"context"
	_ "embed" // for the script
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/python"
	"voltbus/wire"
)

//go:embed listener.py
var listenerScript []byte

// interpreters repeats the table about Python 2 and 3 of the report of December 2020 with the SDK, on the Pythons of this machine.
func interpreters() experiment.Experiment {
	var published []experiment.Published
	var most []int
	for _, r := range devicesTable() {
		if r.published[2] == 0 {
			continue
		}
		most = append(most, r.devices)
		published = append(published, experiment.Published{Case: devicesCase(r.devices).Case, Figures: figures(devicesLabels()[2:], r.published[2:]...)})
	}
	settings := append(scanSettings(), experiment.Setting{
		Name: "pythons", Default: allFound, Doc: "programs or paths, with commas, such as python3.12,/opt/python/bin/python3; or found for all that are",
	})
	for i := range settings {
		if settings[i].Name == "interval" {
			settings[i].Default = "5s"
		}
	}
	settings = slices.DeleteFunc(settings, func(s experiment.Setting) bool { return s.Name == "listener-processes" })
	return experiment.Experiment{
		Name:     "pnnl-30858-interpreters",
		Title:    "Interval of a scrape of 4,000 and 8,000 devices to an agent in Python, by interpreter",
		Question: "How long after a scrape began does a listener on the Python SDK have and decode all of it, on each Python that is here?",
		Source:   "Message Bus Usage Recommendations (PNNL-30858, December 2020), the table about the interpreters: a virtual machine with 1 processor.",
		Method: append(scanMethod()[:1], "The listener is a process of a Python with the connection of the SDK, TLS 1.3 and a key of its own. It decodes each message with all its values.",
			"The Pythons are those that the setting names, or else those that are called python3, python3.10 to python3.15, pypy3 and graalpy on the path and in .venv, each interpreter once. One that is too old for the SDK, or has no msgspec, is told in a note and not measured."),
		Limits: append(scanLimits(), "The published platform runs driver, router and listener on the interpreter; here the devices and the bus are the node's, and only the listener is in Python."),
		Metric: scanMetric("devices"), Published: published, Settings: settings,
		Run: func(ctx context.Context, b *experiment.Bench) error { return measureInterpreters(ctx, b, most) },
	}
}

// allFound has the Pythons looked for.
const allFound = "found"

func measureInterpreters(ctx context.Context, b *experiment.Bench, devices []int) error {
	found, err := findInterpreters(ctx, b)
	if err != nil {
		return err
	}
	var cases []scanCase
	for _, n := range devices {
		cases = append(cases, devicesCase(n))
	}
	for _, python := range found {
		for _, c := range orSmaller(cases, b) {
			if c.devices > b.Int("most-devices") {
				continue
			}
			c.Name, c.Line = c.Name+", "+python.name, python.name
			err := b.Measure(ctx, c.Case, func(ctx context.Context, t *experiment.Trial) error { return c.measureWith(ctx, b, t, python.program) })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// interpreter is a Python of this machine.
type interpreter struct {
	program string // its path
	name    string // such as CPython 3.11.2
}

// findInterpreters finds the Pythons that can run the SDK. It fails with fault.NotFound if there are none.
func findInterpreters(ctx context.Context, b *experiment.Bench) (list []interpreter, err error) {
	names := strings.Split(b.Text("pythons"), ",")
	chosen := b.Text("pythons") != allFound
	if !chosen {
		names = []string{".venv/bin/python", "python3", "pypy3", "graalpy"}
		for minor := 10; minor <= 15; minor++ {
			names = append(names, fmt.Sprintf("python3.%d", minor))
		}
	}
	var known, left []string
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil && !chosen {
			continue
		}
		one, why := askInterpreter(ctx, cmp.Or(program, name))
		switch {
		case why != nil && chosen:
			return nil, fault.E("scrape.interpreters", fault.NotFound, name, why)
		case why != nil:
			left = append(left, fmt.Sprintf("%s was not measured: %v.", name, why))
		case !slices.Contains(known, one.name):
			known, list = append(known, one.name), append(list, one)
		}
	}
	for _, text := range left {
		b.Note("%s", text)
	}
	if len(list) == 0 {
		return nil, fault.E("scrape.interpreters", fault.NotFound, "python", errors.New("no Python from 3.10 on with msgspec is here (pip install msgspec); name one with --set pythons=PATH"))
	}
	return list, nil
}

// aboutInterpreter has a Python say what it is, and fail if the SDK cannot be used.
const aboutInterpreter = `import platform, sys
print(platform.python_implementation(), platform.python_version())
if sys.version_info < (3, 10): sys.exit("the SDK needs Python 3.10 or later, it is " + platform.python_version())
try: import msgspec
except ImportError: sys.exit("it has no msgspec (pip install msgspec)")`

// askInterpreter asks a Python what it is; the error says why it cannot be used.
func askInterpreter(ctx context.Context, program string) (interpreter, error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	out, err := exec.CommandContext(ctx, program, "-c", aboutInterpreter).Output()
	name := strings.TrimSpace(string(out))
	var ended *exec.ExitError
	if errors.As(err, &ended) && len(ended.Stderr) > 0 {
		err = errors.New(strings.TrimSpace(name + ": " + strings.TrimSpace(string(ended.Stderr))))
	}
	return interpreter{program, name}, err
}

// measureWith is measure with a listener on a Python.
func (c *scanCase) measureWith(ctx context.Context, b *experiment.Bench, t *experiment.Trial, program string) error {
	name, wheel, err := python.Wheel()
	if err != nil {
		return err
	}
	script, sdk := filepath.Join(t.Dir, "listener.py"), filepath.Join(t.Dir, name)
	if err := errors.Join(os.WriteFile(script, listenerScript, 0o600), os.WriteFile(sdk, wheel, 0o600)); err != nil {
		return fault.E("scrape.interpreters", fault.Unavailable, t.Dir, err)
	}
	run := c.scan(b, t)
	run.Program = []string{program, script, sdk, wire.ScanPrefix + ">"}
	return c.run(ctx, t, run)
}
