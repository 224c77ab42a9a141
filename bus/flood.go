package bus

import (
	"fmt"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// find returns a copy of a connection from outside, or nil.
func (g *connections) find(id uint64) *connection {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n := g.byID[id]; n != nil {
		c := *n
		return &c
	}
	return nil
}

// sweep forgets who is gone, and returns who was kept in quarantine for long enough, and who came and ended.
func (g *connections) sweep(now time.Time) (closing []uint64, passed []ConnectionEvent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	passed = g.events()
	for id, n := range g.byID {
		switch {
		case !g.alive(n) && (n.ended || !n.came): // else its end is told first
			delete(g.byID, id)
			if g.holders[n.permit.Name] == n {
				delete(g.holders, n.permit.Name)
			}
		case n.quarantine != nil && !now.Before(n.leaves):
			closing = append(closing, id)
		}
	}
	for key, p := range g.pauses {
		if now.Sub(p.until) > forgiven {
			delete(g.pauses, key)
		}
	}
	return closing, passed
}

// anyHeavy reports whether any connection sent much at the last look.
func (g *connections) anyHeavy() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.heavy
}

// measure compares what connections sent with the last look, and returns who sent more than the
// limits for floodTime, or subscribes to more: they are to be closed.
func (g *connections) measure(conns []*server.ConnInfo, limits Limits, now time.Time) (cut []Violation, closing []uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	passed := now.Sub(g.looked)
	first := passed > floodTime // nothing is known of the time between
	g.looked, g.heavy = now, first
	for _, c := range conns {
		n := g.byID[c.Cid]
		if n == nil {
			continue
		}
		if int(c.NumSubs) > limits.Subscriptions {
			cut = append(cut, g.cut(n, fmt.Sprintf("has %d subscriptions, and may have %d", c.NumSubs, limits.Subscriptions), now))
			closing = append(closing, c.Cid)
			continue
		}
		before, known := n.sent, n.counted
		n.sent, n.counted = Traffic{c.InMsgs, c.InBytes}, true
		if first || !known || !limits.exceeded(before, n.sent, passed) {
			n.heavy = time.Time{}
			continue
		}
		g.heavy = true
		if n.heavy.IsZero() {
			n.heavy = now.Add(-passed)
		}
		if now.Sub(n.heavy) >= floodTime {
			s := passed.Seconds()
			why := fmt.Sprintf("sent %.0f messages and %.1f MB a second, more than one connection may",
				float64(n.sent.Messages-before.Messages)/s, float64(n.sent.Bytes-before.Bytes)/s/1e6)
			cut = append(cut, g.cut(n, why, now))
			closing = append(closing, c.Cid)
		}
	}
	return cut, closing
}

// cut begins a pause for a connection's holder, and says so.
func (g *connections) cut(n *connection, why string, now time.Time) Violation {
	n.closed = "it " + why
	g.keepAway(n.key, why, now)
	return Violation{Name: n.permit.Name, Key: n.key, Count: 1, Publish: true, Flood: why}
}

// keepAway begins a pause for the holder of a key, twice as long as the last one.
func (g *connections) keepAway(key, why string, now time.Time) {
	length := firstStay
	if p := g.pauses[key]; p != nil {
		length = min(2*p.length, longStay)
	}
	g.pauses[key] = &pause{until: now.Add(length), length: length, why: why}
}
