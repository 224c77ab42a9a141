package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"voltbus/agent/claim"
	"voltbus/agent/guard"
	"voltbus/agent/launch"
	"voltbus/agent/place"
	"voltbus/agent/process"
	"voltbus/agent/upload"
	"voltbus/fault"
	"voltbus/internal/keymutex"
	"voltbus/internal/plural"
)

// UserRange is a range of system users.
type UserRange = claim.Range

// Config tells how agents are run.
type Config struct {
	Data string // the node's data directory
	// Exec is the command that calls jail's Spec.Exec with its last argument, such as
	// [/usr/bin/voltbus agent-exec].
	Exec []string
	Bus  func() string // the address of the bus, host:port
	CA   string        // the file with the bus's CA certificate

	Isolation Isolation
	Users     UserRange // users for agents, one each; the nodes of a machine share them
	Read      []string  // further paths that agents may read
	Write     []string  // further paths that agents may read and write
	Memory    int64     // maximum resident memory in bytes of an agent without a limit of its own; 0 for none
	Files     int       // maximum open files of a process
	Processes int       // maximum processes and threads of an agent with its own user; 0 for no limit
	FileSize  int64     // maximum size in bytes of a file that an agent writes; 0 for no limit
	Nice      int
	Restart   Restart
	Hang      bool          // restart agents whose health reports stop
	Grace     time.Duration // time between requesting a process to end and killing it
	LogBytes  int64
	LogFiles  int
	LogLines  int

	// Right returns the right to run an agent; nil for a node alone.
	Right func(name string) Right
	// News requests an agent over the bus to end. It returns at once; may be nil.
	News func(name string)
	// Audit records what happened. It returns at once; may be nil.
	Audit func(actor, action, name, text string, failed bool)
	Log   *slog.Logger

	Install Installing
}

// Supervisor runs the agents of a node. Its methods are safe for concurrent use.
type Supervisor struct {
	*roster
	cfg      Config
	dir      folder
	guard    guard.Guard
	prepared preparation
	audit    auditor
	tools    toolchain
	bound    bindings
	claims   *claim.Claims
	launcher *launch.Launcher
	watchdog *launch.Watchdog

	uploads  *upload.Uploads
	turns    keymutex.Mutex[string] // one change of an agent's installation at a time
	building chan struct{}          // holds an element while a version is built
}

// Open finds the agents of a data directory. Nothing is started before Run.
func Open(cfg Config) (*Supervisor, error) {
	// Agents have working folders of their own, so relative paths would not resolve for them.
	data, err := filepath.Abs(cfg.Data)
	if err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, cfg.Data, err)
	}
	cfg.Data = data
	s := &Supervisor{
		cfg: cfg, dir: folder(filepath.Join(cfg.Data, place.Agents)), roster: &roster{agents: make(map[string]*runner), broken: make(map[string]error)},
		claims:   claim.New(cfg.Users, cfg.Data),
		launcher: launch.New(),
		building: make(chan struct{}, 1),
	}
	s.watchdog = launch.NewWatchdog(cfg.Exec, s.roster.watched, cfg.Log)
	s.uploads = upload.New(string(s.dir))
	if err := os.MkdirAll(string(s.dir), 0o700); err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, string(s.dir), err)
	}
	if s.guard, err = guard.New(&guard.Config{
		Data: cfg.Data, Off: cfg.Isolation == Off, Required: cfg.Isolation == Require, Users: cfg.Users, Read: cfg.Read, Write: cfg.Write,
		Processes: cfg.Processes, FileSize: cfg.FileSize, Log: cfg.Log,
	}); err != nil {
		return nil, err
	}
	s.users = s.guard.Users
	s.prepared = preparation{cfg: &s.cfg, guard: &s.guard}
	s.audit, s.bound = auditor{cfg.Audit}, bindings{cfg.Install.Documents}
	s.tools = toolchain{cfg: &s.cfg, guard: &s.guard}
	entries, err := s.dir.tidy()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || CheckName(e.Name()) != nil {
			continue
		}
		p := s.dir.of(e.Name())
		rec, err := load(p)
		if fault.Is(err, fault.NotFound) { // left by a node killed in the middle of an installation
			if err = s.dir.erase(p); err == nil {
				continue
			}
		}
		if err == nil {
			err = s.claim(p, &rec)
		}
		if err == nil {
			s.agents[rec.Name], err = s.newRunner(p, rec)
		}
		if err != nil {
			delete(s.agents, e.Name())
			s.broken[e.Name()] = err
		}
	}
	return s, nil
}

// claim claims the user of an agent. If another node of this machine holds it, the agent gets another user,
// which takes over all its files.
func (s *Supervisor) claim(p place.Place, rec *Record) error {
	if !s.guard.Users || rec.UID == 0 {
		return nil
	}
	held, err := s.claims.Hold(rec.UID)
	if held || err != nil {
		return err
	}
	was := rec.UID
	if rec.UID, err = s.claims.Choose(rec.Name); err != nil {
		return err
	}
	s.cfg.Log.Info("an agent gets another user, because an agent of another node has the one that it had",
		slog.String("agent", rec.Name), slog.Int("user", rec.UID), slog.Int("had", was))
	return save(p, *rec)
}

// Close closes a supervisor that is not running.
func (s *Supervisor) Close() error {
	s.claims.Close()
	var errs []error
	for _, r := range s.agents {
		if err := r.journal.Close(); !errors.Is(err, os.ErrClosed) { // a runner that has run has closed it
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Run starts the agents that should run, in order of ascending priority, and supervises them until ctx ends.
// Then it ends them. Processes left by an earlier node are ended first.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.claims.Close()
	s.sweep(ctx)
	launching, endLaunching := context.WithCancel(context.WithoutCancel(ctx))
	var starter sync.WaitGroup
	starter.Go(func() { s.launcher.Run(launching) })
	s.mu.Lock()
	s.running = ctx
	list := s.sorted()
	s.group.Go(func() { s.measure(ctx, s.cfg.Log) })
	if s.cfg.Right != nil {
		starter.Go(func() { s.watchdog.Run(launching) })
	}
	for _, r := range list {
		s.group.Go(func() { r.run(ctx) })
	}
	s.mu.Unlock()
	for _, r := range list {
		rec := r.look().Record
		if rec.Autostart == Enabled || (rec.Wanted && rec.Autostart != Disabled) {
			// One after another, in order of priority.
			_ = r.ask(ctx, func() { r.do(ctx, r.machine.start(time.Now())) }) // fails only if ctx has ended
		}
	}
	<-ctx.Done()
	s.group.Wait()
	endLaunching()
	starter.Wait()
	return nil
}

// sweep ends the processes that an earlier node left behind.
func (s *Supervisor) sweep(ctx context.Context) {
	for _, r := range s.agents {
		n, err := r.rec.Process.End()
		if s.guard.Users {
			process.EndUser(r.rec.UID)
		}
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "processes that an earlier node left cannot be ended",
				slog.String("agent", r.rec.Name), slog.Any("err", err))
		}
		if n > 0 {
			s.cfg.Log.WarnContext(ctx, "ended processes that an earlier node left",
				slog.String("agent", r.rec.Name), slog.Int("processes", n))
			r.journal.Note("warning", fmt.Sprintf("ended what an earlier node left: %d %s", n, plural.Word(n, "process", "processes")))
		}
	}
	for name, err := range s.broken {
		s.cfg.Log.ErrorContext(ctx, "agent cannot be used", slog.String("agent", name), slog.Any("err", err))
	}
}
