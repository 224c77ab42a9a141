package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/state"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// proposal is a command pending approval.
type proposal struct {
	control.Command
	approvals *approvals
	order     uint64
	since     time.Time
	ends      time.Duration // on the steady clock
	timer     step.Timer
}

// Due ends a proposal that was not approved in time.
func (p *proposal) Due() { p.approvals.withdraw(p, control.CauseExpired) }

func (p *proposal) holder() control.Holder {
	return control.Holder{
		Requester: p.Requester, Task: p.Task, Command: p.ID, Path: p.Point, Level: p.Level,
		From: p.since, Until: p.approvals.step.Now.At(p.ends), Reason: p.Reason,
	}
}

// approvals holds the commands pending the approval of a second person.
type approvals struct {
	step      *step.Step
	proposals map[control.Ref]*proposal
}

func newApprovals(s *step.Step) *approvals {
	return &approvals{step: s, proposals: make(map[control.Ref]*proposal)}
}

// propose adds a command.
func (a *approvals) propose(c control.Command) control.Decision {
	s := a.step
	if len(a.proposals) >= s.Limits.Proposals {
		return control.Refuse("Command", control.WhyFull, fault.Unavailable, string(c.Point), fmt.Errorf(
			"%d commands wait for approval already; approve or release some first", len(a.proposals)))
	}
	p := &proposal{Command: c, approvals: a, order: s.NextOrder(), since: s.Now.Wall.UTC(), ends: s.Now.Steady + s.Limits.Patience}
	a.proposals[c.Ref()] = p
	s.Steady.Set(&p.timer, p, int64(p.ends))
	s.Touch(step.Proposal, step.Join(c.Ref()))
	s.Event(control.Event{Kind: control.ApprovalAsked, Holder: p.holder(), Value: c.Value})
	return control.Decision{Status: control.Pending, Until: p.holder().Until}
}

// withdraw ends a proposal.
func (a *approvals) withdraw(p *proposal, cause control.Cause) {
	a.step.Steady.Stop(&p.timer)
	delete(a.proposals, p.Ref())
	a.step.Touch(step.Proposal, step.Join(p.Ref()))
	a.step.Event(control.Event{Kind: control.ApprovalEnded, Holder: p.holder(), Cause: cause, Value: p.Value})
}

// chosen returns the proposals that a function selects, in the order of creation.
func (a *approvals) chosen(choose func(*proposal) bool) []*proposal {
	var chosen []*proposal
	for _, p := range a.proposals {
		if choose(p) {
			chosen = append(chosen, p)
		}
	}
	slices.SortFunc(chosen, func(a, b *proposal) int { return cmp.Compare(a.order, b.order) })
	return chosen
}

// of returns the selected proposals of a requester.
func (a *approvals) of(requester string, s control.Selection) []*proposal {
	return a.chosen(func(p *proposal) bool { return p.Requester == requester && s.Has(&p.Command) })
}

// below returns the proposals at or below a path.
func (a *approvals) below(path point.Path) []*proposal {
	return a.chosen(func(p *proposal) bool { return control.Covers(path, p.Point) })
}

// Waiting returns the commands pending approval, oldest first.
func (a *approvals) Waiting() []control.Slot {
	all := a.chosen(func(*proposal) bool { return true })
	slots := make([]control.Slot, len(all))
	for i, p := range all {
		slots[i] = control.Slot{Holder: p.holder(), Value: p.Value}
	}
	return slots
}

func (a *approvals) touchAll() {
	for r := range a.proposals {
		a.step.Touch(step.Proposal, step.Join(r))
	}
}

// record encodes a proposal; nil if it no longer exists.
func (a *approvals) record(key string) ([]byte, error) {
	p := a.proposals[step.Split(key)]
	if p == nil {
		return nil, nil
	}
	return json.Marshal(state.OfCommand(&p.Command, p.order, p.since, a.step.Now.At(p.ends)))
}

func (a *approvals) restore(data []byte) error {
	var s state.Command
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	p := &proposal{Command: s.Command(), approvals: a, order: s.Order, since: s.Since}
	if a.proposals[p.Ref()] != nil {
		return errors.New("the command is there twice")
	}
	p.ends = a.step.Now.EndOf(a.step.Limits.Patience, s.Until)
	a.proposals[p.Ref()] = p
	a.step.Steady.Set(&p.timer, p, int64(p.ends))
	return nil
}

// Approve decides a pending command. What was valid at the request is checked again, and its lease begins
// now. A repeat of the command gets this answer from now on.
func (m *Model) Approve(now control.Instant, a control.Approval) control.Decision {
	const op = "Approve"
	m.step.EnterAs(now, a.By)
	asked := control.Ref{Requester: a.Requester, ID: a.Command}
	p := m.proposals[asked]
	switch {
	case p == nil:
		return m.leave(control.Refuse(op, control.WhyUnknown, fault.NotFound, a.Command, fmt.Errorf(
			"no such command of %s waits for approval; it may have ended already", a.Requester)))
	case a.By == "" || a.By == a.Requester:
		return m.leave(control.Refuse(op, control.WhyNotYours, fault.Refused, string(p.Point), errors.New("it needs the approval of a second person; have somebody else approve it")))
	}
	d := control.Refuse("Command", control.WhyDisapproved, fault.Refused, string(p.Point), fmt.Errorf("%s did not approve it; ask there", a.By))
	if a.Agree {
		m.approvals.withdraw(p, control.CauseCommand)
		c := p.Command
		t, refusal, ok := examine(m, &c)
		if d = refusal; ok {
			d = m.accept(t, c)
		}
		m.answers.Replace(asked, d)
		return m.leave(d)
	}
	m.approvals.withdraw(p, control.CauseCanceled)
	m.answers.Replace(asked, d)
	return m.leave(control.Decision{Status: control.Accepted})
}
