package control

import (
	"fmt"
	"strings"
	"time"
)

// Limits bounds a model. A zero field means the default given here.
type Limits struct {
	Emergency  Level         // levels up to it pass reservations and rates; 2
	Protection Level         // levels up to it pass minimum on and off times (ASHRAE 135, clause 19.2.3); 5
	Grace      time.Duration // time left to an active reservation that is pre-empted; 1 min
	Announce   time.Duration // between announcements of an active window; 1 min
	Patience   time.Duration // how long a command waits for approval; 1 h
	RetryFirst time.Duration // pause before a failed write is tried again; it doubles; 1 s
	RetryMost  time.Duration // up to this; 1 min

	Answers   int // decisions remembered for repeats; 100,000
	Proposals int // commands pending approval; 1,000
	Windows   int // windows of all reservations; 100,000
	Overrides int // 1,000
	Text      int // bytes of an identifier, a name or a reason; 1,000
}

// The bounds of requests.
const (
	// MaxLength bounds leases and overrides: a hundred years, with which no sum overflows.
	MaxLength = 100 * 365 * 24 * time.Hour
	// MaxSpread bounds the time over which points revert.
	MaxSpread = 24 * time.Hour
)

// WithDefaults returns the limits with the default in each field that is zero.
func (l Limits) WithDefaults() Limits {
	orElse := func(field *time.Duration, value time.Duration) {
		if *field <= 0 {
			*field = value
		}
	}
	orCount := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	if l.Emergency == 0 {
		l.Emergency = 2
	}
	if l.Protection == 0 {
		l.Protection = 5
	}
	orElse(&l.Grace, time.Minute)
	orElse(&l.Announce, time.Minute)
	orElse(&l.Patience, time.Hour)
	orElse(&l.RetryFirst, time.Second)
	orElse(&l.RetryMost, time.Minute)
	orCount(&l.Answers, 100_000)
	orCount(&l.Proposals, 1000)
	orCount(&l.Windows, 100_000)
	orCount(&l.Overrides, 1000)
	orCount(&l.Text, 1000)
	return l
}

// Named returns what is wrong with a name: missing or too long.
func (l *Limits) Named(what, name string) error {
	switch {
	case strings.TrimSpace(name) == "":
		return fmt.Errorf("the %s is missing; write one", what)
	case len(name) > l.Text:
		return fmt.Errorf("the %s has %d bytes; write at most %d", what, len(name), l.Text)
	}
	return nil
}

// Explained returns what is wrong with a reason: too long.
func (l *Limits) Explained(reason string) error {
	if len(reason) > l.Text {
		return fmt.Errorf("the reason has %d bytes; write at most %d", len(reason), l.Text)
	}
	return nil
}

// RetryPause returns the pause after this many failures in a row.
func (l *Limits) RetryPause(failures int) time.Duration {
	pause := l.RetryFirst
	for range failures - 1 {
		if pause >= l.RetryMost/2 {
			return l.RetryMost
		}
		pause *= 2
	}
	return min(pause, l.RetryMost)
}
