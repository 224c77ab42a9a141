// Package study holds the experiments: one file each. A new one is a function that returns an
// experiment.Experiment, and a line in List.
package study

import (
	"fmt"
	"strings"

	"voltbus/fault"
	"voltbus/lab/experiment"
)

// List returns all experiments in the order in which they are shown.
func List() []experiment.Experiment {
	return []experiment.Experiment{
		pnnlFY17Table2(),
		cloudScale(),
		chain(),
		catchUp(),
		manyChildren(),
		pnnl30858Table2(),
		pnnl30858Table4(),
		largeMessages(),
		dnp3Sessions(),
		historianBacklog(),
		recorderKill(),
		ingestLineProtocol(),
	}
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
