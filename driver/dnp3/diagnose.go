package dnp3

import (
	"voltbus/driver/dnp3/pointlist"
	"voltbus/point"
)

// Diagnose implements driver.Diagnoser.
func (n *session) Diagnose() error { return n.diagnosis }

// diagnose explains which points a read left bad although the device answered, and what to do; nil if there are none.
func diagnose(n *session, names []string, samples []point.Sample) error {
	var f pointlist.Findings
	for i, name := range names {
		if at, known := n.byName[name]; known {
			f.Add(&n.items[at], samples[i].Quality)
		}
	}
	return f.Err(len(n.items))
}
