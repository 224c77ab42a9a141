package bus

import (
	"cmp"
	"slices"
	"time"

	"voltbus/bus/permit"
)

// ConnectionEvent says that a connection with an exclusive name came or ended. That of a child comes when it works.
type ConnectionEvent struct {
	Name    string // who it is
	Key     string // the public key
	Address string // where it comes from
	Since   time.Time
	Ended   string // why it ended; "" when it came

	id uint64
}

const (
	whyEnded = "it ended"
	whyShut  = "its key is not admitted any more"
	whyOther = "what it may do has changed"
)

// whyChanged says why a connection is closed whose permit changed.
func whyChanged(p *permit.Permit) string {
	switch p.Why() {
	case permit.QuarantineRevoked:
		return "it was shut out"
	case permit.QuarantineReplaced:
		return "its key was replaced by a new one"
	}
	return whyOther
}

// Works notes that a connected child has greeted, and sends on this connection. Of one with
// which it only asks how it stands, or for a key, nothing is reported: that is no link.
func (g *connections) Works(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if h := g.holders[name]; h != nil {
		h.works = true
	}
}

// connection events returns who came and ended since the last time, each coming before its end. The caller
// holds mu, and forgets who is gone afterwards.
func (g *connections) events() []ConnectionEvent {
	var list []ConnectionEvent
	for _, n := range g.byID {
		if n.quarantine != nil || !n.permit.Exclusive || (n.permit.Prompt && !n.works) {
			continue
		}
		p := ConnectionEvent{Name: n.permit.Name, Key: n.key, Address: n.address, Since: n.since, id: n.id}
		if !n.came {
			n.came = true
			list = append(list, p)
		}
		if !n.ended && (n.closed != "" || !g.alive(n)) {
			n.ended = true
			p.Ended = cmp.Or(n.closed, whyEnded)
			list = append(list, p)
		}
	}
	slices.SortStableFunc(list, func(a, b ConnectionEvent) int { return cmp.Compare(a.id, b.id) })
	return list
}

// notifyEvents reports who came and ended. Why, the server knows, soon after the end: what it does not say
// yet is asked once more with the next tick, and what came behind waits for it.
func (g *guard) notifyEvents(list []ConnectionEvent) {
	again := len(g.held)
	list, g.held = append(g.held, list...), nil
	if g.cfg.Event == nil || len(list) == 0 {
		return
	}
	why := map[uint64]string{}
	if slices.ContainsFunc(list, func(p ConnectionEvent) bool { return p.Ended == whyEnded }) {
		why = g.connections.endings()
	}
	for i, p := range list {
		if p.Ended == whyEnded {
			words, known := why[p.id]
			if !known && i >= again {
				g.held = list[i:]
				return
			}
			p.Ended = cmp.Or(words, whyEnded)
		}
		g.cfg.Event(p)
	}
}
