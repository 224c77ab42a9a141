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

// beatEvery is how often a watchdog is told which agents may run.
const beatEvery = jail.WatchTime / 6

// watchdog has a process of its own end the agents when this one does not say for a while that it has the right to run them, because it
// was stopped.
type watchdog struct {
	roster *roster
	cfg    *Config
}

func (w watchdog) run(ctx context.Context) {
	for ctx.Err() == nil {
		if err := w.watch(ctx); err != nil && ctx.Err() == nil {
			w.cfg.Log.WarnContext(ctx, "the watchdog of the agents has ended, and is started again", slog.Any("err", err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// watch runs the process until ctx ends, or the process does.
func (w watchdog) watch(ctx context.Context) error {
	cmd, err := launch.Command(w.cfg.Exec, &jail.Spec{Watch: true}, nil)
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
		if _, err = fmt.Fprintln(to, w.roster.rightly()...); err != nil || ctx.Err() != nil {
			return errors.Join(err, to.Close(), cmd.Wait())
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// rightly lists the process groups of the agents, negative if this node has no right to run them.
func (l *roster) rightly() (groups []any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.agents {
		pid := r.look().Process.PID
		if pid == 0 {
			continue
		}
		if hold := r.right.Hold(); hold == nil || hold.Err() != nil {
			pid = -pid
		}
		groups = append(groups, pid)
	}
	return groups
}

// Busy reports whether an agent has a process here.
func (l *roster) Busy(name string) bool {
	r, err := l.find(name)
	return err == nil && r.look().Process.PID != 0
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
