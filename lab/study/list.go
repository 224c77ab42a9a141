// Package study contains the experiments, one file each. A new one is a function that returns an experiment.Experiment, and a line in
// List.
package study

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"voltbus/fault"
	"voltbus/lab/experiment"
	"voltbus/lab/fleetsim"
	"voltbus/lab/metersim"
	"voltbus/lab/rig"
	"voltbus/lab/study/ami"
	"voltbus/lab/study/destination"
	"voltbus/lab/study/field"
	"voltbus/lab/study/fleet"
	"voltbus/lab/study/scrape"
	"voltbus/store/duckdb/statement"
)

// List returns all experiments in the order in which they are shown.
func List() []experiment.Experiment {
	return slices.Concat([]experiment.Experiment{
		scrape.FY17(),
		cloudScale(),
		chain(),
		catchUp(),
		manyChildren(),
	}, scrape.List(), field.List(), []experiment.Experiment{
		historianBacklog(),
		recorderKill(),
		ingestLineProtocol(),
	}, destination.List(), ami.List(), fleet.List())
}

// Find returns the experiment of that name. It fails with fault.NotFound, and names those that
// there are.
func Find(name string) (experiment.Experiment, error) {
	var names []string
	for _, e := range List() {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return experiment.Experiment{}, fault.E("study.Find", fault.NotFound, name,
		fmt.Errorf("there is no such experiment; there are %s", strings.Join(names, ", ")))
}

// Match returns the experiments of a name, or whose names fit a pattern such as ami-*. It fails as Find does.
func Match(pattern string) ([]experiment.Experiment, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		e, err := Find(pattern)
		return []experiment.Experiment{e}, err
	}
	var out []experiment.Experiment
	for _, e := range List() {
		ok, err := path.Match(pattern, e.Name)
		if err != nil {
			return nil, fault.E("study.Match", fault.Invalid, pattern, fmt.Errorf("is no pattern of names; write such as ami-*: %w", err))
		}
		if ok {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		_, err := Find(pattern)
		return nil, err
	}
	return out, nil
}

// Serve plays the part of an experiment in a process of its own, see rig.Serve.
func Serve(ctx context.Context, kind string, in io.Reader, out io.Writer) error {
	if metersim.Serves(kind) && os.Getenv(statement.Env) == "" {
		return metersim.Serve(ctx, kind, in, out)
	}
	if fleetsim.Serves(kind) {
		return fleetsim.Serve(ctx, kind, in, out)
	}
	return rig.Serve(ctx, kind, in, out)
}
