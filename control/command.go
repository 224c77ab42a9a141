package control

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Command is a wish to set a point.
type Command struct {
	ID        string // unique for its requester: a repeat gets the first answer
	Point     point.Path
	Requester string // agent, account or part; the caller vouches for it
	Task      string // the own reservation that it needs; "": it belongs to the one that is active, if any
	Level     Level
	Value     point.Value
	Reason    string        // for people
	Lease     time.Duration // ends by itself after this, unless renewed; 0: until released
}

// command is an accepted Command.
type command struct {
	Command
	order  uint64
	since  time.Time
	ends   time.Duration // on the steady clock; 0: no lease
	revert due
	target *target
	alarm  alarm
	fresh  bool // the device has not taken it yet
	first  bool // its first write, which goes out at once, has no outcome yet
	aside  aside
}

// ring ends a command whose lease was not renewed, or whose point goes back.
func (c *command) ring(m *Model) {
	if c.revert.at > 0 && c.revert.at <= m.now.Steady {
		m.turn(c)
		return
	}
	m.end(c, CauseExpired)
	m.settle(c.target, CauseExpired)
}

func (c *command) holder(m *Model) Holder {
	h := Holder{
		Requester: c.Requester, Task: c.Task, Command: c.ID, Path: c.Point, Level: c.Level,
		From: c.since, Reason: c.Reason,
	}
	if at := c.stops(); at > 0 {
		h.Until = m.now.at(at)
	}
	return h
}

// Command decides a command, and has it take effect.
//
// Refusals: Invalid for what is malformed or out of range, with the limit; NotFound for an unknown
// point; Refused for one that is read-only, demands a reservation or whose interlock does not allow
// it; Conflict for what somebody else holds, with Holders; Unavailable when a bound is reached.
func (m *Model) Command(now Instant, c Command) Decision {
	m.enterAs(now, c.Requester)
	return m.leave(m.once(ref{c.Requester, c.ID}, c.mark(), func() Decision {
		t, d, ok := m.examine(&c)
		switch {
		case !ok:
			return d
		case t.spec.policy().Approval:
			return m.propose(t, c)
		}
		return m.accept(t, c)
	}))
}

// examine refuses a command that cannot be accepted now. It fills in the task that c belongs to.
func (m *Model) examine(c *Command) (t *target, d Decision, ok bool) {
	const op = "Command"
	t = m.targets[c.Point]
	switch {
	case t == nil:
		return nil, refuse(op, WhyUnknown, fault.NotFound, string(c.Point), errors.New("there is no such point; look it up in the list of points")), false
	case !t.spec.Writable:
		return nil, refuse(op, WhyReadOnly, fault.Refused, string(c.Point), errors.New("it is read-only; declare it writable if the device allows it")), false
	}
	if why, err := m.malformed(t, c); err != nil {
		return nil, refuse(op, why, fault.Invalid, string(c.Point), err), false
	}
	for _, check := range []func(*target, *Command) (Decision, bool){m.overridden, m.reserved, m.interlocked, m.occupied} {
		if d, ok := check(t, c); !ok {
			return nil, d, false
		}
	}
	return t, Decision{}, true
}

// malformed reports what is wrong with a command in itself.
func (m *Model) malformed(t *target, c *Command) (Why, error) {
	for _, name := range []struct{ what, text string }{{"identifier", c.ID}, {"requester", c.Requester}} {
		if err := m.named(name.what, name.text); err != nil {
			return WhyInvalid, err
		}
	}
	if r := (ref{c.Requester, c.ID}); m.commands[r] != nil || m.proposals[r] != nil {
		return WhyReused, errors.New("this identifier stands for a command that is still there; make a new one for each")
	}
	longest := t.spec.policy().Longest
	err := fits(t.spec, c.Value)
	if err == nil {
		_, err = t.spec.encoded(c.Value)
	}
	switch {
	case err != nil:
		return WhyRange, err
	case c.Level == m.limits.Protection+1 && t.spec.policy().minimal():
		return WhyInvalid, fmt.Errorf("level %d is kept for the minimum on and off times of the point; take a more urgent one to pass them, or a less urgent one", c.Level)
	case c.Level < 1 || c.Level > Levels:
		return WhyInvalid, fmt.Errorf("there is no level %d; write one from 1 (most urgent) to %d", c.Level, Levels)
	case len(c.Reason) > m.limits.Text:
		return WhyInvalid, fmt.Errorf("the reason has %d bytes; write at most %d", len(c.Reason), m.limits.Text)
	case c.Lease < 0 || c.Lease > maxLength:
		return WhyLease, fmt.Errorf("a lease of %v is out of range; write a duration of at most %v", c.Lease, maxLength)
	case longest > 0 && (c.Lease == 0 || c.Lease > longest):
		return WhyLease, fmt.Errorf("the point demands a lease of at most %v; write one and renew it", longest)
	}
	return "", nil
}

// maxLength bounds leases and overrides: a hundred years, which no sum overflows with.
const maxLength = 100 * 365 * 24 * time.Hour

// overridden refuses a command to a point that an override holds.
func (m *Model) overridden(t *target, c *Command) (Decision, bool) {
	if t.frozen == 0 {
		return Decision{}, true
	}
	d := refuse("Command", WhyOverridden, fault.Conflict, string(c.Point), errors.New("an override holds it; wait for its end or clear it"))
	for _, o := range m.sortedOverrides() {
		if o.Pattern.Match(c.Point) {
			d.Holders = append(d.Holders, o.holder(m))
		}
	}
	return d, false
}

// reserved refuses a command that a reservation, or the lack of one, forbids.
func (m *Model) reserved(t *target, c *Command) (Decision, bool) {
	const op = "Command"
	if c.Level <= m.limits.Emergency && c.Task == "" {
		return Decision{}, true
	}
	w := m.calendar.activeFor(c.Point)
	switch {
	case w == nil && c.Task != "":
		return refuse(op, WhyUnreserved, fault.Refused, string(c.Point), fmt.Errorf(
			"the task %q has no active window for it; wait for the window or leave the task out", c.Task)), false
	case w == nil && t.spec.policy().Reservation:
		return refuse(op, WhyUnreserved, fault.Refused, string(c.Point), errors.New("it demands a reservation; reserve the point or its device first")), false
	case w == nil:
		return Decision{}, true
	case w.task.Requester != c.Requester || c.Task != "" && c.Task != w.task.Task:
		d := refuse(op, WhyReserved, fault.Conflict, string(c.Point), fmt.Errorf(
			"%s has reserved %s for the task %q until %s; wait, or reserve it with priority high",
			w.task.Requester, w.Path, w.task.Task, clockText(w.Until)))
		d.Holders = []Holder{w.holder()}
		return d, false
	}
	c.Task = w.task.Task
	return Decision{}, true
}

func (m *Model) interlocked(t *target, c *Command) (Decision, bool) {
	if err := m.unlocked(t, c.Value); err != nil {
		return refuse("Command", WhyInterlock, fault.Refused, string(c.Point), err), false
	}
	return Decision{}, true
}

// occupied refuses a command to a level that another requester holds. Who has reserved the point
// takes the level over.
func (m *Model) occupied(t *target, c *Command) (Decision, bool) {
	old := t.at(c.Level)
	if old == nil || old.Requester == c.Requester || c.Task != "" && c.Level > m.limits.Emergency {
		return Decision{}, true
	}
	until := "it is released"
	if at := old.stops(); at > 0 {
		until = clockText(m.now.at(at))
	}
	d := refuse("Command", WhyHeld, fault.Conflict, string(c.Point), fmt.Errorf(
		"%s holds level %d until %s; take another level, or ask for its release", old.Requester, c.Level, until))
	d.Holders = []Holder{old.holder(m)}
	return d, false
}

// clockText writes a time for people.
func clockText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// accept puts a command into the array of its point.
func (m *Model) accept(t *target, given Command) Decision {
	c := &command{Command: given, order: m.nextOrder(), since: m.now.Wall.UTC(), target: t, fresh: true}
	w := t.working()
	old := t.at(c.Level)
	c.aside = setAside(w, old)
	if old != nil {
		old.first = false
		cause := CauseReplaced
		if old.Requester != c.Requester {
			cause = CauseReserved
		}
		m.forget(old, cause)
	} else if len(w.commands) == 0 && !w.reverting {
		w.before = t.observed
		if w.state == Idle {
			w.held = t.observed
		}
	}
	i, _ := slices.BinarySearchFunc(w.commands, c.Level, byLevel)
	w.commands = slices.Insert(w.commands, i, c)
	w.reverting, w.insist = false, w.insist || i == 0
	m.index(c)
	if c.Lease > 0 {
		m.lease(c, c.Lease)
	}
	m.event(Event{Kind: CommandStarted, Holder: c.holder(m), Cause: CauseCommand, Value: c.Value})
	later := m.settle(t, CauseCommand)
	c.first = i == 0 && w.sent.ID != 0
	return Decision{Status: Accepted, Until: c.holder(m).Until, Wins: t.at0() == c, Later: later}
}

// lease sets when a command ends by itself.
func (m *Model) lease(c *command, length time.Duration) {
	c.Lease, c.ends = length, m.now.Steady+length
	m.arm(c)
	m.touch(recordPoint, string(c.Point))
}

// index makes a command findable.
func (m *Model) index(c *command) {
	m.commands[ref{c.Requester, c.ID}] = c
	all := m.mine[c.Requester]
	if all == nil {
		all = make(map[*command]struct{}, 1)
		m.mine[c.Requester] = all
	}
	all[c] = struct{}{}
	if task := m.tasks[c.Task]; task != nil && c.Task != "" {
		task.commands[c] = struct{}{}
	}
	m.touch(recordPoint, string(c.Point))
}

// forget takes a command out of the array.
func (m *Model) forget(c *command, cause Cause) {
	m.steady.stop(&c.alarm)
	w := c.target.work
	w.commands = slices.DeleteFunc(w.commands, func(other *command) bool { return other == c })
	delete(m.commands, ref{c.Requester, c.ID})
	if all := m.mine[c.Requester]; all != nil {
		if delete(all, c); len(all) == 0 {
			delete(m.mine, c.Requester)
		}
	}
	if task := m.tasks[c.Task]; task != nil {
		delete(task.commands, c)
	}
	m.touch(recordPoint, string(c.Point))
	m.event(Event{Kind: CommandEnded, Holder: c.holder(m), Cause: cause, Value: c.Value})
}

// end takes a command out of the array; the point reverts if it was the last. Settle follows.
func (m *Model) end(c *command, cause Cause) {
	w := c.target.work
	w.insist = w.insist || c.target.at0() == c
	if m.forget(c, cause); len(w.commands) == 0 {
		w.reverting, w.undo = true, false
	}
}
