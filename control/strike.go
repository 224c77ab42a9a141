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
	before := aside{prior: old, reverting: old.aside.reverting}
	old.aside = aside{}
	return before
}

// prove notes that the device took a command.
func (m *Model) prove(t *target, sent *Write) {
	c := m.commands[ref{sent.Requester, sent.Command}]
	if c != nil && c.target == t && c.fresh {
		c.fresh, c.aside, t.work.undo = false, aside{}, false
		m.touch(recordPoint, string(c.Point))
	}
}

// tried notes that a write or read of the point has an outcome, or is held back. From then on only the command that
// wins may still have its first write to come, and it has not after a failure.
func (t *target) tried(failed bool) {
	for i, c := range t.work.commands {
		c.first = c.first && i == 0 && !failed
	}
}

// firstOf returns the command of which this is the first write or read, nil if there is none.
func (t *target) firstOf(sent *Write) *command {
	for _, c := range t.work.commands {
		if c.first && c.Requester == sent.Requester && c.ID == sent.Command {
			return c
		}
	}
	return nil
}

// struck ends the command to which the device said no, if it has never taken it, and puts back what stood
// before. A no that may pass ends only a command of which it is the first outcome: who made it hears of it,
// while a command that was accepted before is tried again. It reports whether there is something else to do
// than to try again, which is then under way.
func (m *Model) struck(t *target, sent *Write, o *Outcome, final bool) bool {
	c := m.commands[ref{sent.Requester, sent.Command}]
	switch {
	case !final && !o.Declined:
		return false
	case c == nil || c.target != t:
		wish, ok := t.wish("")
		if !sent.Read {
			t.drop(sent)
		}
		if sent.Read || !ok || wish.Release == sent.Release && wish.Value == sent.Value {
			return false
		}
	case !c.fresh, !c.first && (sent.Read || !final):
		return false
	default:
		c.strike(m, o.Err)
	}
	t.work.failures = 0
	m.settle(t, CauseDevice)
	return true
}

// drop has a command not come back that was replaced while it was written, and to which the device said no.
func (t *target) drop(sent *Write) {
	for _, c := range t.work.commands {
		if p := c.aside.prior; p != nil && p.fresh && p.Requester == sent.Requester && p.ID == sent.Command {
			c.aside.prior = nil
		}
	}
}

// strike ends a command that the device has not taken, and puts back what stood before.
func (c *command) strike(m *Model, err error) {
	t, w := c.target, c.target.work
	m.forget(c, CauseDevice)
	m.answerAnew(ref{c.Requester, c.ID}, Decision{
		Status: Unfulfilled, Why: WhyDeclined, Err: fault.E("control.Command", fault.KindOf(err), string(c.Point), err),
	})
	over := false // what came before would have ended meanwhile
	if c.aside.prior != nil {
		over = !m.restoreSlot(t, c.aside.prior)
	}
	w.trouble = trouble{}
	w.reverting = (over || c.aside.reverting) && len(w.commands) == 0
	if _, wished := t.wish(""); !wished && w.partial {
		w.reverting, w.undo = true, true
	} else if !wished {
		w.state, w.before = Idle, point.Value{}
		return
	}
	if w.held.Kind() == point.None || w.partial {
		w.state = Failed // it was never set, or has not got what it was set to: the wish is written
	} else {
		m.doubt(t)
	}
}

// remains has a point read that lost its value to a part of another one, since the device declines also the one that it is
// to have. It reports whether that is under way.
func (m *Model) remains(t *target, sent *Write) bool {
	w, c := t.work, t.at0()
	if !w.partial || sent.Read || c != nil && c.fresh { // a command that the device has never taken has its own end
		return false
	}
	t.tried(true)
	m.doubt(t)
	if w.moving = false; w.assertAt <= m.now.Steady {
		m.putOff(t)
	}
	m.settle(t, CauseCheck)
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
