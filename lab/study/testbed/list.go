// Package testbed contains the experiments in virtual time: buildings that follow a regulation signal, and worlds of nodes, agents and models.
package testbed

import "voltbus/lab/experiment"

// List returns the experiments in the order in which they are shown.
func List() []experiment.Experiment {
	return []experiment.Experiment{
		tenThousand(), regulation50(), packetLoss(), leaderKill(), campuses(), testbed4(), thousandNodes(), fans(),
	}
}

// appendix is where the published facts come from.
const appendix = "PNNL FY17, Appendix A"
