// Package field contains the experiments about devices in the field: sessions of their protocols, and how many are read.
package field

import (
	"slices"

	"voltbus/lab/experiment"
	"voltbus/lab/study/testbed"
)

// List returns the experiments in the order in which they are shown, and behind them those in virtual time.
func List() []experiment.Experiment {
	return slices.Concat([]experiment.Experiment{dnp3Sessions(), bacnetCollection()}, testbed.List())
}
