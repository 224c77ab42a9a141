package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Reversion sends points back, whoever commands them. Reservations and overrides stay.
type Reversion struct {
	Path point.Path // a point, or a device or branch for every point below it
	By   string
	// Spread is the time over which the points go back, so that a plant does not change at once: the first
	// now, the others after equal pauses, in the order of their paths. 0: all now.
	Spread time.Duration
}

// due is when a command ends because somebody reverts its point.
type due struct {
	at time.Duration // on the steady clock; 0: nobody does
	by string
}

// Revert ends every command of points, also what waits for approval. A command that is made after it
// stays, also before the turn of its point. Until of the decision is the turn of the last point. NotFound
// says that nothing is commanded there.
func (m *Model) Revert(now Instant, r Reversion) Decision {
	const op = "Revert"
	m.enterAs(now, r.By)
	if err := m.named("requester", r.By); err != nil {
		return m.leave(refuse(op, WhyInvalid, fault.Invalid, string(r.Path), err))
	}
	if r.Spread < 0 || r.Spread > maxSpread {
		return m.leave(refuse(op, WhyInvalid, fault.Invalid, string(r.Path), fmt.Errorf(
			"a spread of %v is out of range; write a duration of at most %v", r.Spread, maxSpread)))
	}
	points, waiting := m.commandedBelow(r.Path), m.proposedBelow(r.Path)
	if len(points)+len(waiting) == 0 {
		return m.leave(refuse(op, WhyUnknown, fault.NotFound, string(r.Path), errors.New(
			"nothing is commanded at or below it; look whether the path is right (voltbus points), and who holds what (voltbus who)")))
	}
	for _, p := range waiting {
		m.withdraw(p, CauseReleased)
	}
	d := Decision{Status: Accepted, Points: len(points)}
	for i, t := range points {
		pause := time.Duration(float64(r.Spread) * float64(i) / float64(len(points)))
		if pause == 0 {
			m.endAll(slices.Clone(t.work.commands), CauseReleased)
			continue
		}
		for _, c := range t.work.commands {
			m.revertLater(c, due{m.now.Steady + pause, r.By})
		}
		d.Until = m.now.at(m.now.Steady + pause)
	}
	return m.leave(d)
}

// maxSpread bounds the time over which points go back.
const maxSpread = 24 * time.Hour

// commandedBelow returns the points with commands at or below a path, by path.
func (m *Model) commandedBelow(path point.Path) []*target {
	var chosen []*target
	for _, t := range m.targets {
		if t.work != nil && len(t.work.commands) > 0 && covers(path, t.spec.Point) {
			chosen = append(chosen, t)
		}
	}
	slices.SortFunc(chosen, func(a, b *target) int { return strings.Compare(string(a.spec.Point), string(b.spec.Point)) })
	return chosen
}

// proposedBelow returns what waits for approval at or below a path, in the order of its making.
func (m *Model) proposedBelow(path point.Path) []*proposal {
	var chosen []*proposal
	for _, p := range m.proposals {
		if covers(path, p.Point) {
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, func(a, b *proposal) int { return cmp.Compare(a.order, b.order) })
	return chosen
}

// revertLater ends a command, and what it has replaced, at a moment; an earlier one that was set stays.
func (m *Model) revertLater(c *command, d due) {
	for each := c; each != nil; each = each.aside.prior {
		if each.revert.at == 0 || d.at < each.revert.at {
			each.revert = d
		}
	}
	m.arm(c)
	m.touch(recordPoint, string(c.Point))
}

// arm sets the alarm of a command to its end, if it has one.
func (m *Model) arm(c *command) {
	if at := c.stops(); at > 0 {
		m.steady.set(&c.alarm, c, int64(at))
	}
}

// stops returns the steady moment at which a command ends by itself; 0 if it does not.
func (c *command) stops() time.Duration {
	if c.ends == 0 || c.revert.at > 0 && c.revert.at < c.ends {
		return c.revert.at
	}
	return c.ends
}

// turn ends the commands of a point whose turn to go back has come, all before the point follows.
func (m *Model) turn(c *command) {
	m.by = c.revert.by
	m.endAll(slices.DeleteFunc(slices.Clone(c.target.work.commands), func(c *command) bool {
		return c.revert.at == 0 || c.revert.at > m.now.Steady
	}), CauseReleased)
	m.by = ""
}
