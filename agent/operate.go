package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"voltbus/agent/journal"
	"voltbus/agent/place"
	"voltbus/fault"
)

// List describes all agents, by name.
func (s *Supervisor) List() []Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Status{}
	for _, r := range s.agents {
		list = append(list, r.look())
	}
	for name, err := range s.broken {
		list = append(list, Status{Record: Record{Name: name}, State: Failed, Text: err.Error(), Isolated: []string{}})
	}
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Get describes one agent; fault.NotFound if there is none.
func (s *Supervisor) Get(name string) (Status, error) {
	r, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	return r.look(), nil
}

// Isolation returns the means that isolate agents here, and why there are no more.
func (s *Supervisor) Isolation() (names []string, whyNot string) {
	return s.guard.Names(-1), s.guard.WhyNot
}

// Logs returns the journal of an agent.
func (s *Supervisor) Logs(name string) (*journal.Journal, error) {
	r, err := s.find(name)
	if err != nil {
		return nil, err
	}
	return r.journal, nil
}

// Crash returns a crash report, which Status lists by name.
func (s *Supervisor) Crash(name, report string) (c Crash, err error) {
	r, err := s.find(name)
	if err != nil {
		return c, err
	}
	if !slices.Contains(r.crashes(), report) {
		return c, fault.E("agent.Crash", fault.NotFound, report, errors.New("there is no such report; see voltbus agent status"))
	}
	return c, readJSON(r.place.In(place.Log, report), &c)
}

// Heard records that an agent sent a health report on the bus; every tells when the next one is due, 0 for no
// promise. Agents that are not installed here are ignored.
func (s *Supervisor) Heard(name string, every time.Duration) {
	s.mu.Lock()
	r, ok := s.agents[name]
	serving := s.running != nil
	s.mu.Unlock()
	if ok && serving {
		r.offer(func() { r.heard(every) })
	}
}

// change lets an agent's goroutine change the agent, stores the record, and writes the audit log.
func (s *Supervisor) change(ctx context.Context, name, by, action string, f func(*runner, context.Context) act) (st Status, err error) {
	if st, err = s.apply(ctx, name, f); err == nil {
		s.audit.done(by, action, name, "")
	} else {
		s.audit.err(by, action, name, err)
	}
	return st, err
}

// apply is change without an audit entry.
func (s *Supervisor) apply(ctx context.Context, name string, f func(*runner, context.Context) act) (Status, error) { //nolint:contextcheck // the process lives longer than the request
	r, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	var saved error
	err = r.ask(ctx, func() {
		a := f(r, running)
		r.rec.Wanted = r.machine.wanted
		saved = save(r.place, r.rec)
		r.do(running, a)
		r.publish()
	})
	if err = errors.Join(err, saved); err != nil {
		return Status{}, err
	}
	return r.look(), nil
}

// Start starts an agent; it is no error if it is already running, or if its process cannot be started, which the
// status shows. by is the actor, for the audit log.
func (s *Supervisor) Start(ctx context.Context, name, by string) (Status, error) {
	st, err := s.apply(ctx, name, func(r *runner, _ context.Context) act { return r.machine.start(time.Now()) })
	if err != nil {
		s.audit.err(by, "agent.start", name, err)
		return st, err
	}
	s.audit.start(by, "agent.start", &st)
	return st, nil
}

// Stop ends an agent, and returns when it has ended.
func (s *Supervisor) Stop(ctx context.Context, name, by string) (Status, error) {
	st, err := s.change(ctx, name, by, "agent.stop", func(r *runner, _ context.Context) act { return r.machine.stop(time.Now()) })
	if err != nil {
		return st, err
	}
	return s.settle(ctx, name, func(st *Status) bool { return st.State == Stopped || st.State == Elsewhere })
}

// Restart ends an agent and starts it again, and returns when the new process has started.
func (s *Supervisor) Restart(ctx context.Context, name, by string) (Status, error) {
	before, err := s.Get(name)
	if err == nil {
		_, err = s.apply(ctx, name, func(r *runner, _ context.Context) act { return r.machine.again(time.Now()) })
	}
	if err != nil {
		s.audit.err(by, "agent.restart", name, err)
		return before, err
	}
	st, err := s.settle(ctx, name, func(st *Status) bool {
		unable := st.Process.PID == 0 && st.Last != nil && st.Last.Reason == "unable"
		return st.State == Elsewhere || st.State != Stopping && (st.Process.PID != before.Process.PID || unable)
	})
	if err != nil {
		s.audit.err(by, "agent.restart", name, err)
		return st, err
	}
	s.audit.start(by, "agent.restart", &st)
	return st, nil
}

// Enable sets whether the node starts an agent when the node itself starts; see Autostart.
func (s *Supervisor) Enable(ctx context.Context, name, by string, a Autostart) (Status, error) {
	action := "agent.enable"
	if a == Disabled {
		action = "agent.disable"
	}
	return s.change(ctx, name, by, action, func(r *runner, _ context.Context) act {
		r.rec.Autostart = a
		return nothing
	})
}

// settle waits until an agent is in the requested state.
func (s *Supervisor) settle(ctx context.Context, name string, ready func(*Status) bool) (Status, error) {
	r, err := s.find(name)
	if err != nil {
		return Status{}, err
	}
	for {
		st, changed := r.watch()
		if ready(&st) {
			return st, nil
		}
		select {
		case <-ctx.Done():
			return r.look(), ctx.Err()
		case <-r.ended:
			return r.look(), nil
		case <-changed:
		}
	}
}

// Removal tells what to remove of an agent.
type Removal struct {
	Name       string
	KeepConfig bool   // keep its documents
	By         string // the actor, for the audit log
}

// Remove ends an agent, and removes it with all its files, its identity and, unless they are kept, its
// documents, whose versions stay in any case. The data that it recorded stays.
func (s *Supervisor) Remove(ctx context.Context, what Removal) (err error) {
	name, by := what.Name, what.By
	defer func() { s.audit.err(by, "agent.remove", name, err) }()
	end, err := s.turn(ctx, name)
	if err != nil {
		return err
	}
	defer end()
	r, err := s.find(name)
	if err != nil {
		return err
	}
	if _, err := s.Stop(ctx, name, by); err != nil {
		return err
	}
	if err := r.ask(ctx, func() { r.gone = true }); err != nil {
		return err
	}
	<-r.ended
	s.mu.Lock()
	delete(s.agents, name)
	s.mu.Unlock()
	if err := s.dir.erase(r.place); err != nil {
		return err
	}
	s.claims.Release(r.look().UID)
	if s.cfg.Install.Identities != nil {
		if err := s.cfg.Install.Identities.Forget(ctx, name); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
	}
	if err := s.bound.release(ctx, what); err != nil {
		return err
	}
	s.audit.done(by, "agent.remove", name, "")
	return nil
}

// Rollback runs the version before the newest again, if may permits it.
func (s *Supervisor) Rollback(ctx context.Context, name, by string, may May) (Status, error) {
	end, err := s.turn(ctx, name)
	if err != nil {
		return Status{}, err
	}
	defer end()
	r, err := s.find(name)
	if err == nil {
		err = may.judge()
	}
	if err != nil {
		return Status{}, err
	}
	st := r.look()
	if len(st.Previous) == 0 {
		return st, fault.E("agent.Rollback", fault.Conflict, name, errors.New("there is no earlier version to go back to"))
	}
	version := st.Previous[len(st.Previous)-1]
	var program Program
	if err := readJSON(filepath.Join(r.place.Version(version), place.Program), &program); err != nil {
		return st, err
	}
	wrong, err := s.bound.bind(ctx, name, program.Schema)
	if err != nil {
		return st, err
	}
	text := fmt.Sprintf("from version %d to %d", st.Version, version)
	st, err = s.change(ctx, name, by, "agent.rollback", func(r *runner, _ context.Context) act {
		r.rec.Previous = slices.Clone(r.rec.Previous[:len(r.rec.Previous)-1])
		r.rec.Version, r.rec.Program = version, program
		if !r.machine.wanted {
			return nothing
		}
		return r.machine.again(time.Now())
	})
	if err != nil {
		_, undone := s.bound.bind(context.WithoutCancel(ctx), name, r.look().Program.Schema)
		return st, errors.Join(err, undone)
	}
	r.journal.Note("info", "rolled back "+text)
	r.noteWrong(wrong)
	return st, nil
}
