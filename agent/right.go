package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"voltbus/agent/jail"
	"voltbus/agent/launch"
)

// right is the right to run an agent, as its runner last saw it.
type right struct {
	Right                 // nil for a node alone
	hold  context.Context //nolint:containedctx // it is a right, not a request; nil if there was none
}

// follow does what follows from the right to run the agent, and returns what is closed when that may have changed.
func (r *runner) follow(ctx context.Context, stopping bool) (changed, lost <-chan struct{}) {
	if r.right.Right == nil {
		return nil, nil
	}
	changed = r.right.Changed()
	hold := r.right.Hold()
	if r.right.hold != nil && (r.right.hold != hold || hold.Err() != nil) {
		r.right.hold = nil
		r.do(ctx, r.machine.bar(time.Now()))
	}
	if hold == nil || hold.Err() != nil {
		return changed, nil
	}
	if r.right.hold == nil && !stopping {
		r.right.hold = hold //nolint:fatcontext // the next right replaces it
		r.do(ctx, r.machine.unbar(time.Now()))
	}
	return changed, hold.Done()
}

// beatEvery is how often a watchdog is told which agents may run.
const beatEvery = jail.WatchTime / 6

// watch has a process of its own end the agents when this one does not say for a while that it has the right to run them, because it
// was stopped.
func (s *Supervisor) watch(ctx context.Context) {
	for ctx.Err() == nil {
		if err := s.watchOnce(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.WarnContext(ctx, "the watchdog of the agents has ended, and is started again", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (s *Supervisor) watchOnce(ctx context.Context) error {
	cmd, err := launch.Command(s.cfg.Exec, &jail.Spec{Watch: true}, nil)
	if err != nil {
		return err
	}
	to, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	tick := time.NewTicker(beatEvery)
	defer tick.Stop()
	for {
		if _, err = fmt.Fprintln(to, s.rightly()...); err != nil || ctx.Err() != nil {
			return errors.Join(err, to.Close(), cmd.Wait())
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// rightly lists the process groups of the agents that this node has the right to run.
func (s *Supervisor) rightly() (groups []any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.agents {
		if hold := s.cfg.Right(name).Hold(); hold != nil && hold.Err() == nil {
			if pid := r.look().Process.PID; pid > 0 {
				groups = append(groups, pid)
			}
		}
	}
	return groups
}

// Busy reports whether an agent has a process here.
func (s *Supervisor) Busy(name string) bool {
	r, err := s.find(name)
	return err == nil && r.look().Process.PID != 0
}

// Names lists the agents that can run here.
func (s *Supervisor) Names() (names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.agents {
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
