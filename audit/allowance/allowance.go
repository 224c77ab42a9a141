// Package allowance limits how many audit entries one actor may cause: a burst that refills over time.
package allowance

import "time"

// How many entries an actor may cause without a pause, and how far the allowance accumulates.
const (
	Entries    = 200 // at once
	Bytes      = 256 << 10
	entryEvery = time.Second // one more entry per interval
	bytesEvery = 1 << 10     // further bytes per entryEvery

	maxActors = 4096 // actors whose allowance is not full
)

// used is the used part of an actor's burst. It shrinks as time passes.
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
	passed := max(0, now.Sub(a.at).Seconds()/entryEvery.Seconds()) // negative if the clock was set back
	a.entries = max(0, a.entries-passed)
	a.bytes = max(0, a.bytes-passed*bytesEvery)
	a.at = now
}

// Actors holds what each actor has used of its allowance.
type Actors map[string]*used

// Allow reports whether an actor may cause an entry of about so many bytes, and counts it if so. If too many
// actors are active, new ones may not.
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

// Rest drops the allowances that are full.
func (all Actors) Rest(now time.Time) {
	for actor, a := range all {
		if a.rested(now) {
			delete(all, actor)
		}
	}
}
