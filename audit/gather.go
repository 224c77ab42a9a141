package audit

import (
	"encoding/json"
	"time"
)

// What Gather holds back.
const (
	gatherTime = time.Minute
	maxGathers = 4096    // actors and actions that are remembered
	maxExample = 4 << 10 // octets of the detail of an entry that stands for many
)

// several is the actor of a sum over many actors, when there are more than can be told one by one.
const several = "several"

// kind is what of entries of Gather is one.
type kind struct{ actor, action string }

// gathering are entries of a kind that wait for the end of their minute.
type gathering struct {
	from  time.Time // when the last entry of the kind was written
	count uint64
	last  Entry
}

// Gather is Offer for what may come again and again: of an actor and an action one entry a minute at most
// is written. Those that come meanwhile are counted, and told by the last of them when the minute is over,
// with {"count": …, "since": …, "example": its detail} as detail.
func (l *Log) Gather(e Entry) {
	e.name()
	e.tidy(l.now())
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.kindOf(&e); l.gathered[k] != nil {
		l.hold(e)
	} else {
		l.gathered[k] = &gathering{from: l.now()}
		l.offer(e)
	}
}

// hold counts an entry, to be told when its minute is over. The caller holds mu.
func (l *Log) hold(e Entry) {
	if l.closed {
		l.dropped++
		l.lost++
		return
	}
	if len(e.Detail) > maxExample {
		e.Detail = mustJSON(struct {
			Octets int    `json:"octets"`
			Begins string `json:"begins"`
		}{len(e.Detail), bound(string(e.Detail), maxExample/4)})
	}
	k := l.kindOf(&e)
	g := l.gathered[k]
	if g == nil {
		g = &gathering{from: l.now()}
		l.gathered[k] = g
	}
	g.count++
	g.last = e
}

// kindOf returns what the entry counts as: where too many actors are at it they are told together. The caller
// holds mu.
func (l *Log) kindOf(e *Entry) kind {
	k := kind{e.Actor, e.Action}
	if l.gathered[k] == nil && len(l.gathered) >= maxGathers {
		k.actor = several
	}
	return k
}

// ripe hands over the sums of the minutes that are over, or of all. Sums need no allowance.
func (l *Log) ripe(all bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for k, g := range l.gathered {
		age := now.Sub(g.from)
		if !all && age >= 0 && age < gatherTime { // less than none: the clock was put back
			continue
		}
		if g.count == 0 {
			delete(l.gathered, k)
			continue
		}
		l.enqueue(g.sum(k))
		g.from, g.count = now, 0
	}
	l.rest(now)
}

// sum is the entry for all that were counted.
func (g *gathering) sum(k kind) Entry {
	e := g.last
	if g.count == 1 {
		return e
	}
	detail := struct {
		Count   uint64          `json:"count"`
		Since   time.Time       `json:"since"`
		Last    string          `json:"last,omitempty"` // of the actors
		Example json.RawMessage `json:"example,omitempty"`
	}{Count: g.count, Since: g.from.UTC(), Example: e.Detail}
	if e.Actor != k.actor {
		detail.Last, e.Actor = e.Actor, k.actor
	}
	e.Detail = mustJSON(detail)
	return e
}
