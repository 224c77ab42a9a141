// Package allowance limits how many audit entries one actor may cause: a burst that refills over time.
package allowance

import "time"

// What an actor may have written without a pause, and for how long it adds up.
const (
	Entries    = 200 // at once
	Bytes      = 256 << 10
	entryEvery = time.Second // one more entry
	bytesEvery = 1 << 10     // bytes more each entryEvery

	maxActors = 4096 // actors with an allowance that is not full
)

// used is what of an actor's burst is used. It refills as time passes.
type used struct {
	entries, bytes float64
	at             time.Time
}

// rested reports whether the allowance is full again.
func (a *used) rested(now time.Time) bool {
	a.refill(now)
	return a.entries == 0 && a.bytes == 0
}

func (a *used) refill(now time.Time) {
	passed := max(0, now.Sub(a.at).Seconds()/entryEvery.Seconds()) // less than none: the clock was put back
	a.entries = max(0, a.entries-passed)
	a.bytes = max(0, a.bytes-passed*bytesEvery)
	a.at = now
}

// Actors is what actors have used of theirs.
type Actors map[string]*used

// Allow reports whether an actor may have an entry of about so many bytes written, and counts it if so.
// Where too many actors are at it none of the new ones is.
func (all Actors) Allow(actor string, size int, now time.Time) bool {
	a := all[actor]
	if a == nil {
		if len(all) >= maxActors {
			return false
		}
		a = &used{at: now}
		all[actor] = a
	}
	a.refill(now)
	if a.entries+1 > Entries || a.bytes+float64(size) > Bytes {
		return false
	}
	a.entries++
	a.bytes += float64(size)
	return true
}

// Rest forgets the allowances that are full.
func (all Actors) Rest(now time.Time) {
	for actor, a := range all {
		if a.rested(now) {
			delete(all, actor)
		}
	}
}
