package agent

import (
	"context"
	"errors"
	"time"

	"voltbus/agent/jail"
)

// right is the right to run an agent, as its runner last saw it.
type right struct {
	Right                 // nil for a node alone
	hold  context.Context //nolint:containedctx // it is a right, not a request; nil if there was none
}

// holds reports whether the agent may run here now.
func (r *right) holds() bool { return r.Right == nil || r.hold != nil && r.hold.Err() == nil }

// follow does what follows from the right to run the agent, and returns what is closed when that may have changed.
func (r *runner) follow(ctx context.Context, stopping bool) (changed, lost <-chan struct{}) {
	if r.right.Right == nil {
		return nil, nil
	}
	changed = r.right.Changed()
	hold := r.right.Hold()
	if r.right.hold != nil && (r.right.hold != hold || hold.Err() != nil) {
		r.right.hold = nil //nolint:fatcontext // it is a right, not a request
		r.do(ctx, r.machine.bar(time.Now()))
	}
	if hold == nil || hold.Err() != nil {
		return changed, nil
	}
	if r.right.hold == nil && !stopping {
		r.right.hold = hold
		r.do(ctx, r.machine.unbar(time.Now()))
	}
	return changed, hold.Done()
}

var errNoRight = errors.New("the right to run it has just ended")

// admit returns nil when the watchdog knows the process of an agent, and the agent may run here.
func (r *runner) admit(ctx context.Context, pid int) error {
	r.setPID(pid)
	if err := r.s.watchdog.Confirm(ctx); err != nil {
		return err
	}
	if !r.right.holds() {
		return errNoRight
	}
	return nil
}

// watched lists the process groups of the agents, and until when this node may run them.
func (l *roster) watched() (groups []jail.Watched) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := jail.Clock() // before what is left: who is stopped in between says too little, not too much
	for _, r := range l.agents {
		st, pid := r.look(), r.pid()
		if pid == 0 {
			continue
		}
		g := jail.Watched{Group: pid}
		if l.users {
			g.UID = st.UID
		}
		if left := r.right.Left(); left > 0 {
			g.Until = now + left
		}
		groups = append(groups, g)
	}
	return groups
}

// Busy reports whether an agent has a process here.
func (l *roster) Busy(name string) bool {
	r, err := l.find(name)
	return err == nil && r.pid() != 0
}

// Names lists the agents that can run here.
func (l *roster) Names() (names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.agents {
		names = append(names, name)
	}
	return names
}

// Intend records whether an agent should run, as another replica says, and has it run or end if this node has the right to it.
func (s *Supervisor) Intend(ctx context.Context, name string, wanted bool, a Autostart) error {
	_, err := s.apply(ctx, name, func(r *runner, _ context.Context) act {
		r.rec.Autostart = a
		switch {
		case wanted == r.machine.wanted:
			return nothing
		case wanted:
			return r.machine.start(time.Now())
		}
		return r.machine.stop(time.Now())
	})
	return err
}
