package audit

import (
	"encoding/json"
	"time"
)

// Bounds of what Gather holds back.
const (
	gatherTime = time.Minute
	maxGathers = 4096    // actors and actions remembered
	maxExample = 4 << 10 // bytes of the detail of an entry that represents many
)

// several is the actor of a sum over many actors, when there are too many to be listed.
const several = "several"

// kind identifies the entries of Gather that are summed up together.
type kind struct{ actor, action string }

// gathering holds entries of a kind until the end of their minute.
type gathering struct {
	from  time.Time // when the last entry of the kind was written
	count uint64
	last  Entry
}

// Gather is Offer for entries that may recur: for each actor and action it writes at most one entry a minute.
// Those in between are counted and summed up in one entry at the end of the minute, with {"count": …,
// "since": …, "example": its detail} as detail.
func (q *intake) Gather(e Entry) {
	e.name()
	e.tidy(q.now())
	q.mu.Lock()
	defer q.mu.Unlock()
	if k := q.kindOf(&e); q.gathered[k] != nil {
		q.hold(e)
	} else {
		q.gathered[k] = &gathering{from: q.now()}
		q.offer(e)
	}
}

// hold counts an entry for the sum at the end of its minute. The caller holds mu.
func (q *intake) hold(e Entry) {
	if q.closed {
		q.dropped++
		q.lost++
		return
	}
	if len(e.Detail) > maxExample {
		e.Detail = mustJSON(struct {
			Octets int    `json:"octets"`
			Begins string `json:"begins"`
		}{len(e.Detail), bound(string(e.Detail), maxExample/4)})
	}
	k := q.kindOf(&e)
	g := q.gathered[k]
	if g == nil {
		g = &gathering{from: q.now()}
		q.gathered[k] = g
	}
	g.count++
	g.last = e
}

// kindOf returns how the entry is counted: entries of too many actors are summed up together. The caller
// holds mu.
func (q *intake) kindOf(e *Entry) kind {
	k := kind{e.Actor, e.Action}
	if q.gathered[k] == nil && len(q.gathered) >= maxGathers {
		k.actor = several
	}
	return k
}

// ripe passes on the sums of the minutes that have ended, or all of them. Sums need no allowance.
func (q *intake) ripe(all bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	now := q.now()
	for k, g := range q.gathered {
		age := now.Sub(g.from)
		if !all && age >= 0 && age < gatherTime { // negative if the clock was set back
			continue
		}
		if g.count == 0 {
			delete(q.gathered, k)
			continue
		}
		q.enqueue(g.sum(k))
		g.from, g.count = now, 0
	}
	q.allowed.Rest(now)
}

// sum returns the entry for all that were counted.
func (g *gathering) sum(k kind) Entry {
	e := g.last
	if g.count == 1 {
		return e
	}
	detail := struct {
		Count   uint64          `json:"count"`
		Since   time.Time       `json:"since"`
		Last    string          `json:"last,omitempty"` // the last of the actors
		Example json.RawMessage `json:"example,omitempty"`
	}{Count: g.count, Since: g.from.UTC(), Example: e.Detail}
	if e.Actor != k.actor {
		detail.Last, e.Actor = e.Actor, k.actor
	}
	e.Detail = mustJSON(detail)
	return e
}
