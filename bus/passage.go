package bus

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Passage is that a connection with an exclusive name came or ended. That of a child comes when it works.
type Passage struct {
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
func whyChanged(p *Permit) string {
	switch p.why() {
	case AsideRevoked:
		return "it was shut out"
	case AsideReplaced:
		return "its key was replaced by a new one"
	}
	return whyOther
}

// Works notes that a child that is connected has greeted, and sends on this connection what it has. Of one with
// which it only asks how it stands, or for a key, nothing is told: that is no link.
func (b *Bus) Works(name string) {
	b.guests.mu.Lock()
	defer b.guests.mu.Unlock()
	if h := b.guests.holders[name]; h != nil {
		h.works = true
	}
}

// passages returns who came and ended since the last time, each coming before its end. The caller
// holds mu, and forgets who is gone afterwards.
func (g *guests) passages() []Passage {
	var list []Passage
	for _, n := range g.byID {
		if n.barred != nil || !n.permit.Exclusive || (n.permit.Prompt && !n.works) {
			continue
		}
		p := Passage{Name: n.permit.Name, Key: n.key, Address: n.address, Since: n.since, id: n.id}
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
	slices.SortStableFunc(list, func(a, b Passage) int { return cmp.Compare(a.id, b.id) })
	return list
}

// tellPassages tells who came and ended. Why, the server knows, soon after the end: what it does not say
// yet is asked once more with the next tick, and what came behind waits for it.
func (g *guard) tellPassages(list []Passage) {
	again := len(g.held)
	list, g.held = append(g.held, list...), nil
	if g.bus.cfg.Passed == nil || len(list) == 0 {
		return
	}
	why := map[uint64]string{}
	if slices.ContainsFunc(list, func(p Passage) bool { return p.Ended == whyEnded }) {
		why = g.bus.endings()
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
		g.bus.cfg.Passed(p)
	}
}

// endings returns why connections ended, of as many as the server remembers.
func (b *Bus) endings() map[uint64]string {
	out := map[uint64]string{}
	conns, err := b.srv.Connz(&server.ConnzOptions{State: server.ConnClosed, Limit: 1 << 20})
	if err != nil {
		return out
	}
	for _, c := range conns.Conns {
		out[c.Cid] = inWords(c.Reason)
	}
	return out
}

// inWords says why a connection ended that this node did not close on purpose, by the server's word.
func inWords(reason string) string {
	switch reason {
	case server.ClientClosed.String():
		return "it was ended there, or cut on the way"
	case server.ReadError.String():
		return "it broke while this node read from it"
	case server.WriteError.String():
		return "it broke while this node wrote to it"
	case server.StaleConnection.String():
		return "nothing was heard from it for too long"
	case server.SlowConsumerPendingBytes.String():
		return "it read slower than it was sent to"
	case server.SlowConsumerWriteDeadline.String():
		return "it took nothing for too long"
	}
	return "the bus ended it: " + strings.ToLower(reason)
}
