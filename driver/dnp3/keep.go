package dnp3

import (
	"maps"
	"slices"

	"voltbus/driver"
)

var _ driver.Careful = (*session)(nil)

// owed is a confirmation that is deferred until the sessions of an outstation have kept the events of a fragment.
type owed struct {
	token uint64
	by    map[*collector]uint64 // number of each session's events that must be kept
}

// mostOwed is how many confirmations may be deferred: that of an answer and that of a report, and those given up since.
const mostOwed = 8

// keep implements master.Config.Keep.
func (s *remote) keep(token uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	by := make(map[*collector]uint64)
	for _, c := range s.collectors {
		if n, owes := c.owes(); owes {
			by[c] = n
		}
	}
	if len(by) == 0 {
		for _, c := range s.collectors {
			c.confirmed(c.before)
		}
		return false
	}
	s.owed = append(s.owed, owed{token, by})
	s.owed = s.owed[max(0, len(s.owed)-mostOwed):]
	return true
}

// paid records that a session has kept its first n events, and sends the confirmations that waited only for that.
func (s *remote) paid(c *collector, n uint64) {
	var tokens []uint64
	s.mu.Lock()
	s.owed = slices.DeleteFunc(s.owed, func(o owed) bool {
		if need, owes := o.by[c]; owes && need <= n {
			delete(o.by, c)
		}
		if len(o.by) == 0 {
			tokens = append(tokens, o.token)
		}
		return len(o.by) == 0
	})
	s.mu.Unlock()
	c.mu.Lock()
	c.sure = max(c.sure, min(n, c.arrived))
	c.mu.Unlock()
	for _, token := range tokens {
		s.Kept(token)
	}
}

// confirmed records that the first n events do not come again.
func (k *collector) confirmed(n uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sure = max(k.sure, n)
}

// unsay drops events that were not taken and that will come again.
func (k *collector) unsay() {
	n := k.arrived - max(k.sure, k.taken)
	if !k.careful || n > uint64(len(k.events)) {
		return
	}
	k.events = k.events[:len(k.events)-int(n)]
	k.arrived -= n
}

// owes returns how many events must be kept before the present fragment is confirmed; false if it contained none.
func (k *collector) owes() (uint64, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fresh := k.arrived > k.before
	k.before = k.arrived
	return k.arrived, k.careful && fresh && k.arrived > k.kept
}

// Careful implements driver.Careful.
func (n *session) Careful(while func()) {
	n.while = while
	n.values.mu.Lock()
	defer n.values.mu.Unlock()
	n.values.careful = true
}

// Keep implements driver.Careful.
func (n *session) Keep() (kept func()) {
	k := n.values
	k.mu.Lock()
	defer k.mu.Unlock()
	taken := k.taken
	if !k.careful || taken <= k.kept {
		return nil
	}
	return func() {
		k.mu.Lock()
		k.kept = max(k.kept, taken)
		k.mu.Unlock()
		n.station.paid(k, taken)
	}
}

// nudge wakes the session of the line that is waiting for an answer: there is something to take.
func (l *line) nudge() {
	select {
	case l.nudged <- struct{}{}:
	default:
	}
}

// release drops what a leaving session has not kept.
func (s *remote) release(c *collector) {
	for _, o := range s.owed {
		maps.DeleteFunc(o.by, func(other *collector, _ uint64) bool { return other == c })
	}
}
