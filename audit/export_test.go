package audit

// MaxOffered is how many entries of Offer may wait.
const MaxOffered = maxOffered

// Ripe offers the sums of the minutes that are over, as Run does each second.
func (l *Log) Ripe() { l.ripe(false) }
