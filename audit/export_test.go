package audit

import "voltbus/audit/allowance"

// Burst is how many entries an actor may offer without a pause.
const Burst = allowance.Entries

// Ripe offers the sums of the minutes that are over, as Run does each second.
func (l *Log) Ripe() { l.ripe(false) }
