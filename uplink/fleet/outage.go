package fleet

import (
	"bytes"
	"encoding/json"
	"maps"
)

// outagesFact is the one fact about a node that its parent tells, and not the node itself.
const outagesFact = "outages"

// mostOutages is how many of a node are told upwards, the newest.
const mostOutages = 3

// Outage is a time in which a node was not connected to its parent, as that counted it. Times are milliseconds
// since 1970 by the parent's clock, figures are samples.
type Outage struct {
	From    int64  `json:"f"`
	Unknown int64  `json:"u,omitempty"` // since when nobody knows before From; 0: From was seen
	To      int64  `json:"t,omitempty"` // 0: it is still away
	Waited  uint64 `json:"w,omitempty"` // that were at the node and not at its parent, when it came back
	Coming  uint64 `json:"c,omitempty"` // of them those that are still not there
	Missing uint64 `json:"m,omitempty"` // of them those that it could not send any more
	Left    uint64 `json:"l,omitempty"` // of them those that were left out on purpose
	Done    int64  `json:"d,omitempty"` // when the last was on the parent's disk; 0: not yet
}

// witness takes the outages of each child that reports, the newest first, so that those above hear of them.
func (b *Book) witness(of func(child string) []Outage) {
	for _, child := range b.reporting() {
		list := of(child)
		value, err := json.Marshal(list[:min(len(list), mostOutages)]) // shorter than a fact may be
		if err == nil {
			b.noteOutages(child, len(list) > 0, value)
		}
	}
}

// reporting lists the children that have told how they are.
func (b *Book) reporting() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	var names []string
	for at, r := range b.below {
		if at.node == "" {
			names = append(names, r.name)
		}
	}
	return names
}

func (b *Book) noteOutages(child string, some bool, value json.RawMessage) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r := b.below[placeOf(child, child)]
	if r == nil {
		return
	}
	before := r.facts.octets()
	old, had := r.facts[outagesFact]
	switch {
	case some && !bytes.Equal(old, value):
		r.facts[outagesFact] = value
	case !some && had:
		delete(r.facts, outagesFact)
	default:
		return
	}
	b.much[placeOf(child, child).child] += r.facts.octets() - before
	r.changed(outagesFact)
	r.fresh = true
}

// ofChild returns what a child tells of itself, with its outages as this node knows them.
func (r *record) ofChild(in facts) facts {
	out := maps.Clone(in)
	delete(out, outagesFact)
	if value, has := r.facts[outagesFact]; has {
		out[outagesFact] = value
	}
	return out
}
