package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Selection chooses commands of one requester; a field left empty chooses all.
type Selection struct {
	Command string     // identifier
	Point   point.Path // with those below it: a device or a branch chooses all of its points
	Level   Level
	Task    string
}

func (s Selection) has(c *Command) bool {
	return (s.Command == "" || s.Command == c.ID) && (s.Point == "" || covers(s.Point, c.Point)) &&
		(s.Level == 0 || s.Level == c.Level) && (s.Task == "" || s.Task == c.Task)
}

// selected returns the chosen commands of a requester in the order of their making.
func (m *Model) selected(requester string, s Selection) []*command {
	if s.Command != "" {
		if c := m.commands[ref{requester, s.Command}]; c != nil && s.has(&c.Command) {
			return []*command{c}
		}
		return nil
	}
	chosen := slices.DeleteFunc(slices.Collect(maps.Keys(m.mine[requester])), func(c *command) bool { return !s.has(&c.Command) })
	slices.SortFunc(chosen, func(a, b *command) int { return cmp.Compare(a.order, b.order) })
	return chosen
}

// Release ends the chosen commands of a requester, also those that wait for approval; by is who does
// it, if it is somebody else. A selection that names something and finds nothing is refused as
// NotFound; releasing everything while there is nothing is fine.
func (m *Model) Release(now Instant, requester string, s Selection, by string) Decision {
	m.enterAs(now, cmp.Or(by, requester))
	chosen, waiting := m.selected(requester, s), m.waiting(requester, s)
	if len(chosen)+len(waiting) == 0 && s != (Selection{}) {
		return m.leave(refuse("Release", WhyUnknown, fault.NotFound, string(s.Point), fmt.Errorf(
			"%s has no such command; it may have ended already", requester)))
	}
	for _, p := range waiting {
		m.withdraw(p, CauseReleased)
	}
	m.endAll(chosen, CauseReleased)
	return m.leave(Decision{Status: Accepted})
}

// endAll ends commands, and settles each of their points once.
func (m *Model) endAll(chosen []*command, cause Cause) {
	var touched []*target
	for _, c := range chosen {
		m.end(c, cause)
		if len(touched) == 0 || touched[len(touched)-1] != c.target {
			touched = append(touched, c.target)
		}
	}
	for _, t := range touched {
		m.settle(t, cause)
	}
}

// Renew gives the chosen commands, which must have leases, a new length from now on; 0 is the length
// that each has. NotFound says that there is none, so the requester knows that it lost it.
func (m *Model) Renew(now Instant, requester string, s Selection, length time.Duration) Decision {
	const op = "Renew"
	m.enterAs(now, requester)
	chosen := slices.DeleteFunc(m.selected(requester, s), func(c *command) bool { return c.ends == 0 })
	if len(chosen) == 0 {
		return m.leave(refuse(op, WhyUnknown, fault.NotFound, string(s.Point), fmt.Errorf(
			"%s has no such command with a lease; command the point again", requester)))
	}
	for _, c := range chosen {
		longest := c.target.spec.policy().Longest
		if longest == 0 {
			longest = maxLength
		}
		if length < 0 || length > longest {
			return m.leave(refuse(op, WhyLease, fault.Invalid, string(c.Point), fmt.Errorf(
				"a lease of %v is out of range; write a duration of at most %v", length, longest)))
		}
	}
	d := Decision{Status: Accepted}
	for _, c := range chosen {
		m.lease(c, cmp.Or(length, c.Lease))
		h := c.holder(m)
		if d.Until.IsZero() || h.Until.Before(d.Until) {
			d.Until = h.Until
		}
		m.event(Event{Kind: LeaseRenewed, Holder: h, Value: c.Value})
	}
	return m.leave(d)
}

// Leave ends everything of a requester: its commands, what waits for approval, its tasks. It is what
// follows when an agent died or an identity was revoked, and the button "release everything of mine";
// overrides stay, because they are a person's word about the device. The cause is CauseLeft or
// CauseReleased, and by is who does it, if it is somebody else.
func (m *Model) Leave(now Instant, requester string, cause Cause, by string) Effects {
	m.enterAs(now, cmp.Or(by, requester))
	for _, p := range m.waiting(requester, Selection{}) {
		m.withdraw(p, cause)
	}
	m.endAll(m.selected(requester, Selection{}), cause)
	m.Disown(requester)
	for _, task := range m.sortedTasks() {
		if task.Requester == requester {
			m.endTask(task, cause)
		}
	}
	return m.take()
}

// errNotYours is why somebody else's task stays.
var errNotYours = errors.New("it belongs to somebody else")
