package acquisition

import "time"

// Limits are the limits for every line. Zero fields get the default in brackets.
type Limits struct {
	RedialFirst time.Duration // first delay between two dials of a lost line [1 s]
	RedialMost  time.Duration // longest delay [1 min]
	Probe       time.Duration // longest interval between two probes of a silent device [1 min]
	RecordBad   time.Duration // interval between recorded scans of a device that stays bad [1 min]
	Jump        time.Duration // smaller changes of the wall clock are followed without replanning [1 s]
	Stop        time.Duration // how long Run waits for drivers after its context has ended [10 s]
	Queue       int           // requests waiting on one line; more are refused [4096]
}

// WithDefaults returns the limits with the default for each field that is zero.
func (l Limits) WithDefaults() Limits {
	for _, d := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&l.RedialFirst, time.Second},
		{&l.RedialMost, time.Minute},
		{&l.Probe, time.Minute},
		{&l.RecordBad, time.Minute},
		{&l.Jump, time.Second},
		{&l.Stop, 10 * time.Second},
	} {
		if *d.field <= 0 {
			*d.field = d.value
		}
	}
	if l.Queue <= 0 {
		l.Queue = 4096
	}
	l.RedialMost = max(l.RedialMost, l.RedialFirst)
	return l
}
