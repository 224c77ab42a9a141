// Package field contains the experiments about devices in the field: sessions of their protocols, and units that follow a regulation signal.
package field

import "voltbus/lab/experiment"

// List returns the experiments in the order in which they are shown.
func List() []experiment.Experiment {
	return []experiment.Experiment{dnp3Sessions(), bacnetCollection(), regulation(), regulation50(), regulationLeaders()}
}
