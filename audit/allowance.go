package audit

import "time"

// What an actor may have written by Offer without a pause, and for how long it adds up. The log's own entries
// ("node") are not limited: their number follows from what happens, not from what somebody sends.
const (
	burstEntries = 200
	burstOctets  = 256 << 10
	entryEvery   = time.Second // one more entry
	octetsEvery  = 1 << 10     // octets more each entryEvery

	maxActors = 4096 // actors with an allowance that is not full
)

// allowance is what of an actor's burst is used. It refills as time passes.
type allowance struct {
	entries, octets float64
	at              time.Time
}

// rested reports whether the allowance is full again.
func (a *allowance) rested(now time.Time) bool {
	a.refill(now)
	return a.entries == 0 && a.octets == 0
}

func (a *allowance) refill(now time.Time) {
	passed := max(0, now.Sub(a.at).Seconds()/entryEvery.Seconds()) // less than none: the clock was put back
	a.entries = max(0, a.entries-passed)
	a.octets = max(0, a.octets-passed*octetsEvery)
	a.at = now
}

// allow reports whether the actor of an offered entry may have it written, and counts it if so. The caller
// holds mu. Where too many actors are at it none of the new ones is.
func (l *Log) allow(e *Entry, now time.Time) bool {
	if e.Actor == self {
		return true
	}
	a := l.allowed[e.Actor]
	if a == nil {
		if len(l.allowed) >= maxActors {
			return false
		}
		a = &allowance{at: now}
		l.allowed[e.Actor] = a
	}
	a.refill(now)
	size := float64(e.size())
	if a.entries+1 > burstEntries || a.octets+size > burstOctets {
		return false
	}
	a.entries++
	a.octets += size
	return true
}

// size is about what an entry takes in the file.
func (e *Entry) size() int {
	return len(e.Actor) + len(e.Action) + len(e.Subject) + len(e.Outcome) + len(e.Detail) + 64
}

// rest forgets the allowances that are full. The caller holds mu.
func (l *Log) rest(now time.Time) {
	for actor, a := range l.allowed {
		if a.rested(now) {
			delete(l.allowed, actor)
		}
	}
}
