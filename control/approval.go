package control

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/fault"
)

// proposal is a command that waits for a second person.
type proposal struct {
	Command
	order uint64
	since time.Time
	ends  time.Duration // on the steady clock
	alarm alarm
}

// ring ends a proposal that nobody approved.
func (p *proposal) ring(m *Model) { m.withdraw(p, CauseExpired) }

func (p *proposal) holder(m *Model) Holder {
	return Holder{
		Requester: p.Requester, Task: p.Task, Command: p.ID, Path: p.Point, Level: p.Level,
		From: p.since, Until: m.now.at(p.ends), Reason: p.Reason,
	}
}

// propose has a command wait.
func (m *Model) propose(t *target, c Command) Decision {
	if len(m.proposals) >= m.limits.Proposals {
		return refuse("Command", WhyFull, fault.Unavailable, string(t.spec.Point), fmt.Errorf(
			"%d commands wait for approval already; approve or release some first", len(m.proposals)))
	}
	p := &proposal{Command: c, order: m.nextOrder(), since: m.now.Wall.UTC(), ends: m.now.Steady + m.limits.Patience}
	m.proposals[ref{c.Requester, c.ID}] = p
	m.steady.set(&p.alarm, p, int64(p.ends))
	m.touch(recordProposal, keyOf(c.Requester, c.ID))
	m.event(Event{Kind: ApprovalAsked, Holder: p.holder(m), Value: c.Value})
	return Decision{Status: Pending, Until: p.holder(m).Until}
}

// withdraw ends a proposal.
func (m *Model) withdraw(p *proposal, cause Cause) {
	m.steady.stop(&p.alarm)
	delete(m.proposals, ref{p.Requester, p.ID})
	m.touch(recordProposal, keyOf(p.Requester, p.ID))
	m.event(Event{Kind: ApprovalEnded, Holder: p.holder(m), Cause: cause, Value: p.Value})
}

// waiting returns the chosen proposals of a requester in the order of their making.
func (m *Model) waiting(requester string, s Selection) []*proposal {
	var chosen []*proposal
	for _, p := range m.proposals {
		if p.Requester == requester && s.has(&p.Command) {
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, func(a, b *proposal) int { return cmp.Compare(a.order, b.order) })
	return chosen
}

// Approval is a second person's word about a command that waits.
type Approval struct {
	Requester string // of the command
	Command   string // its identifier
	By        string // who speaks, another one than the requester
	Agree     bool
}

// Approve decides a command that waits. What was right when it was asked for is looked at again, and
// its lease begins now. A repeat of the command gets this answer from now on.
func (m *Model) Approve(now Instant, a Approval) Decision {
	const op = "Approve"
	m.enterAs(now, a.By)
	p := m.proposals[ref{a.Requester, a.Command}]
	switch {
	case p == nil:
		return m.leave(refuse(op, WhyUnknown, fault.NotFound, a.Command, fmt.Errorf(
			"no such command of %s waits for approval; it may have ended already", a.Requester)))
	case a.By == "" || a.By == a.Requester:
		return m.leave(refuse(op, WhyNotYours, fault.Refused, string(p.Point), errors.New("it needs a second person; have somebody else approve it")))
	}
	d := refuse("Command", WhyDisapproved, fault.Refused, string(p.Point), fmt.Errorf("%s did not approve it; ask there", a.By))
	if a.Agree {
		m.withdraw(p, CauseCommand)
		c := p.Command
		t, refusal, ok := m.examine(&c)
		if d = refusal; ok {
			d = m.accept(t, c)
		}
		m.answerAnew(ref{a.Requester, a.Command}, d)
		return m.leave(d)
	}
	m.withdraw(p, CauseCanceled)
	m.answerAnew(ref{a.Requester, a.Command}, d)
	return m.leave(Decision{Status: Accepted})
}
