package concentrator

import "time"

// The pauses before a system is tried again that gave no usable answer: twice as long each time.
const (
	firstPause   = 250 * time.Millisecond
	longestPause = 30 * time.Second
	mostDoubled  = 7
	longestAsked = 10 * time.Minute // that a system may ask for
)

// Targets are the systems to which bulks go in turn. It is not safe for concurrent use.
type Targets struct {
	list []Target
	next int
}

// Target is the state of a system.
type Target struct {
	Failures int       // in a row; 0 for one that answers
	Since    time.Time // of the first of them
	Until    time.Time // before which it is not tried again
	Why      string    // the last of them failed
}

// NewTargets returns n systems, of which nothing bad is known.
func NewTargets(n int) *Targets { return &Targets{list: make([]Target, n)} }

// Pick returns the system to which the next bulk goes: one that failed and whose pause is over is tried, else those that answer take turns. trial
// says that it failed before, while another one answers. If there is none, it returns −1 and how long until there is.
func (t *Targets) Pick(now time.Time) (target int, trial bool, wait time.Duration) {
	late, well := -1, -1
	for i := range t.list {
		at := (t.next + i) % len(t.list)
		switch one := &t.list[at]; {
		case one.Failures == 0:
			if well < 0 {
				well = at
			}
		case !one.Until.After(now):
			if late < 0 {
				late = at
			}
		case wait == 0 || one.Until.Sub(now) < wait:
			wait = one.Until.Sub(now)
		}
	}
	switch {
	case late >= 0:
		t.next = late + 1
		t.list[late].Until = now.Add(longestPause) // one bulk tries it, not all
		return late, well >= 0, 0
	case well >= 0:
		t.next = well + 1
		return well, false, 0
	}
	return -1, false, wait
}

// Answered notes that a system answered. It reports whether it had failed before.
func (t *Targets) Answered(i int) bool {
	failed := t.list[i].Failures > 0
	t.list[i] = Target{}
	return failed
}

// Failed notes that a system gave no usable answer, and why. It is not tried again before a pause is over, which is at least as
// long as the system asks for. It reports whether that is new.
func (t *Targets) Failed(i int, now time.Time, why string, pause time.Duration) bool {
	one := &t.list[i]
	if one.Failures == 0 {
		one.Since = now
	}
	own := min(firstPause<<min(one.Failures, mostDoubled), longestPause)
	one.Failures++
	one.Why, one.Until = why, now.Add(min(max(own, pause), longestAsked))
	return one.Failures == 1
}

// Retry says that a system may answer again, so that it is tried without waiting for the end of its pause.
func (t *Targets) Retry(i int) { t.list[i].Until = time.Time{} }

// States returns the state of each system.
func (t *Targets) States() []Target { return append([]Target(nil), t.list...) }
