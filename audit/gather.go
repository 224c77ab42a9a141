package audit

import (
	"encoding/json"
	"time"
)

// What Gather holds back.
const (
	gatherTime = time.Minute
	maxGathers = 4096 // actors and actions that are remembered
)

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
// with {"count": …, "example": its detail} as detail.
func (l *Log) Gather(e Entry) {
	if e.Time.IsZero() {
		e.Time = l.now()
	}
	k := kind{e.Actor, e.Action}
	l.mu.Lock()
	g := l.gathered[k]
	if g == nil && len(l.gathered) >= maxGathers {
		k = kind{"", e.Action} // so many at once are told together
		g = l.gathered[k]
	}
	if g != nil {
		g.count++
		g.last = e
		l.mu.Unlock()
		return
	}
	l.gathered[k] = &gathering{from: l.now()}
	l.mu.Unlock()
	l.Offer(e)
}

// ripe offers the sums of the minutes that are over, or of all.
func (l *Log) ripe(all bool) {
	now := l.now()
	var list []Entry
	l.mu.Lock()
	for k, g := range l.gathered {
		age := now.Sub(g.from)
		if !all && age >= 0 && age < gatherTime { // less than none: the clock was put back
			continue
		}
		if g.count == 0 {
			delete(l.gathered, k)
			continue
		}
		list = append(list, g.sum())
		g.from, g.count = now, 0
	}
	l.mu.Unlock()
	for _, e := range list {
		l.Offer(e)
	}
}

// sum is the entry for all that were counted.
func (g *gathering) sum() Entry {
	e := g.last
	if g.count > 1 {
		example := e.Detail
		if len(example) > MaxDetail/2 || !json.Valid(example) {
			example = nil
		}
		e.Detail = mustJSON(struct {
			Count   uint64          `json:"count"`
			Since   time.Time       `json:"since"`
			Example json.RawMessage `json:"example,omitempty"`
		}{g.count, g.from.UTC(), example})
	}
	return e
}
