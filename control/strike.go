package control

import (
	"slices"

	"voltbus/fault"
	"voltbus/point"
)

// aside is what stood before a command that the device has not taken yet, to come back if it refuses.
type aside struct {
	prior     *command // on the same level; nil if that was free
	reverting bool     // the point was on its way back
}

// setAside notes what stands before a new command.
func setAside(w *work, old *command) aside {
	switch {
	case old == nil:
		return aside{reverting: w.reverting}
	case old.fresh && old.aside.prior != nil: // that is what the device knows
		return aside{prior: old.aside.prior}
	}
	old.aside = aside{}
	return aside{prior: old}
}

// prove notes that the device took a command.
func (m *Model) prove(t *target, sent *Write) {
	c := m.commands[ref{sent.Requester, sent.Command}]
	if c != nil && c.target == t && c.fresh {
		c.fresh, c.aside = false, aside{}
		m.touch(recordPoint, string(c.Point))
	}
}

// struck ends the command that the device refused if it has never taken it, and puts back what stood
// before. It reports whether there is something else to do than to try again.
func (m *Model) struck(t *target, sent *Write, err error) bool {
	if sent.Read {
		return false
	}
	c := m.commands[ref{sent.Requester, sent.Command}]
	if c == nil || c.target != t {
		wish, ok := t.wish("")
		return ok && (wish.Release != sent.Release || wish.Value != sent.Value)
	}
	if !c.fresh {
		return false
	}
	w := t.work
	m.forget(c, CauseDevice)
	m.answerAnew(ref{c.Requester, c.ID}, Decision{
		Status: Unfulfilled, Err: fault.E("control.Command", fault.KindOf(err), string(c.Point), err),
	})
	over := false // what came before would have ended meanwhile
	if c.aside.prior != nil {
		over = !m.restoreSlot(t, c.aside.prior)
	}
	w.trouble = trouble{}
	w.reverting = (over || c.aside.reverting) && len(w.commands) == 0
	if _, wished := t.wish(""); !wished {
		w.state, w.before = Idle, point.Value{}
		return true
	}
	if w.held.Kind() == point.None {
		w.state = Failed // it was never set: the wish is written
	} else {
		m.doubt(t)
	}
	return true
}

// restoreSlot puts a command back that was replaced by one that the device refused, unless it would have
// ended meanwhile. It reports whether it is back.
func (m *Model) restoreSlot(t *target, c *command) bool {
	task := m.tasks[c.Task]
	switch {
	case c.stops() > 0 && c.stops() <= m.now.Steady, m.commands[ref{c.Requester, c.ID}] != nil:
		return false
	case c.Task != "" && (task == nil || !task.holds(c.Point)):
		return false
	case fits(t.spec, c.Value) != nil, m.unlocked(t, c.Value) != nil:
		return false
	}
	c.target = t
	i, _ := slices.BinarySearchFunc(t.work.commands, c.Level, byLevel)
	t.work.commands = slices.Insert(t.work.commands, i, c)
	m.index(c)
	m.arm(c)
	m.event(Event{Kind: CommandRestored, Holder: c.holder(m), Cause: CauseDevice, Value: c.Value})
	return true
}

func byLevel(c *command, l Level) int { return int(c.Level) - int(l) }

// Disown has nothing of a requester come back that was replaced by a command of another one.
func (m *Model) Disown(requester string) {
	for _, c := range m.commands {
		if p := c.aside.prior; p != nil && p.Requester == requester && c.Requester != requester {
			c.aside.prior = nil
			m.touch(recordPoint, string(c.Point))
		}
	}
}
