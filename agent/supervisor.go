package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"voltbus/agent/claim"
	"voltbus/agent/jail"
	"voltbus/agent/process"
	"voltbus/fault"
	"voltbus/internal/atomicfile"
	"voltbus/internal/plural"
)

// folder is where agents live, in the data directory.
const folder = "agents"

// Config says how agents are run.
type Config struct {
	Data string // the node's data directory
	// Exec is the command that calls jail's Spec.Exec with its last argument, such as
	// [/usr/bin/voltbus agent-exec].
	Exec []string
	Bus  func() string // the address of the bus, host:port
	CA   string        // the file with the certificate authority of the bus

	Isolation Isolation
	Users     claim.Range // users that agents get, one each; nodes of one machine share them
	Read      []string    // more that agents may read
	Write     []string    // more that agents may read and write
	Memory    int64       // most octets resident of an agent that has no bound of its own; 0 for none
	Files     int         // most open files of a process
	Processes int         // most processes and threads of an agent with a user of its own; 0 for no bound
	FileSize  int64       // most octets of a file that an agent writes; 0 for no bound
	Nice      int
	Restart   Restart
	Hang      bool          // end and start again what is silent
	Grace     time.Duration // between asking a process to end, and killing it
	LogBytes  int64
	LogFiles  int
	LogLines  int

	// News asks an agent over the bus to end. It returns at once; nil for none.
	News func(name string)
	// Audit keeps what happened. It returns at once; nil for none.
	Audit func(actor, action, name, text string, failed bool)
	Log   *slog.Logger

	Install Installing
}

// Supervisor runs the agents of a node. Its methods are safe for concurrent use.
type Supervisor struct {
	cfg      Config
	dir      string
	guard    guard
	claims   *claim.Claims
	launcher *launcher

	uploads  uploads
	turns    turns
	building chan struct{} // holds an element while a version is built
	group    sync.WaitGroup

	mu      sync.Mutex
	agents  map[string]*runner
	broken  map[string]error // folders that hold no agent
	running context.Context  //nolint:containedctx // that of Run, for agents that are installed meanwhile; nil before
}

// Open finds the agents of a data directory. Nothing is started before Run.
func Open(cfg Config) (*Supervisor, error) {
	// Agents have working folders of their own, so that a relative path means nothing to them.
	data, err := filepath.Abs(cfg.Data)
	if err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, cfg.Data, err)
	}
	cfg.Data = data
	s := &Supervisor{
		cfg: cfg, dir: filepath.Join(cfg.Data, folder), agents: make(map[string]*runner), broken: make(map[string]error),
		claims:   claim.New(cfg.Users, cfg.Data),
		launcher: &launcher{orders: make(chan order)},
		uploads:  uploads{of: make(map[string]int)}, turns: turns{taken: make(map[string]chan struct{})}, building: make(chan struct{}, 1),
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fault.E("agent.Open", fault.Unavailable, s.dir, err)
	}
	if s.guard, err = newGuard(&s.cfg); err != nil {
		return nil, err
	}
	entries, err := s.tidy()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() || CheckName(e.Name()) != nil {
			continue
		}
		p := place(filepath.Join(s.dir, e.Name()))
		rec, err := p.load()
		if fault.Is(err, fault.NotFound) { // a node that was killed left it in the middle of an installation
			if err = s.erase(p); err == nil {
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

// claim holds the user of an agent. If somebody else on this machine has it, the agent gets another,
// and all that is its own with that.
func (s *Supervisor) claim(p place, rec *Record) error {
	if !s.guard.users || rec.UID == 0 {
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
	return p.save(*rec)
}

// Close ends a supervisor that does not run.
func (s *Supervisor) Close() error {
	s.claims.Close()
	var errs []error
	for _, r := range s.agents {
		if err := r.journal.Close(); !errors.Is(err, os.ErrClosed) { // one that ran is closed
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Run starts the agents that shall run, first those with the smallest priority, and looks after
// them until ctx ends. Then it ends them. Processes that an earlier node left are ended first.
func (s *Supervisor) Run(ctx context.Context) error {
	defer s.claims.Close()
	s.sweep(ctx)
	launching, endLaunching := context.WithCancel(context.WithoutCancel(ctx))
	var starter sync.WaitGroup
	starter.Go(func() { s.launcher.run(launching) })
	s.mu.Lock()
	s.running = ctx
	list := s.sorted()
	s.group.Go(func() { s.measure(ctx) })
	for _, r := range list {
		s.group.Go(func() { r.run(ctx) })
	}
	s.mu.Unlock()
	for _, r := range list {
		rec := r.look().Record
		if rec.Autostart == Enabled || (rec.Wanted && rec.Autostart != Disabled) {
			// One after another: the order is the priority's.
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
		if s.guard.users {
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

// sorted returns the agents in the order of their start. The lock is held.
func (s *Supervisor) sorted() []*runner {
	var list []*runner
	for _, r := range s.agents {
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b *runner) int {
		x, y := a.look(), b.look()
		return cmp.Or(cmp.Compare(x.Priority, y.Priority), cmp.Compare(x.Name, y.Name))
	})
	return list
}

func (s *Supervisor) serving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil
}

// adopt looks after an agent that was installed just now.
func (s *Supervisor) adopt(r *runner) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.agents[r.rec.Name] = r
	delete(s.broken, r.rec.Name)
	if ctx := s.running; ctx != nil {
		s.group.Go(func() { r.run(ctx) })
	}
}

// measureEvery is how often the agents' processes are measured.
const measureEvery = time.Second

// measure tells each agent what its processes use, until ctx ends.
func (s *Supervisor) measure(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	before := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		s.mu.Lock()
		list := s.sorted()
		s.mu.Unlock()
		list = slices.DeleteFunc(list, func(r *runner) bool { return r.look().Process.PID == 0 })
		if len(list) == 0 {
			continue
		}
		all, err := process.List()
		if err != nil {
			s.cfg.Log.WarnContext(ctx, "processes cannot be measured", slog.Any("err", err))
			continue
		}
		now := time.Now()
		for _, r := range list {
			u, cpu := sum(all, r.look().Process.PID)
			r.offer(func() { r.measured(ctx, u, cpu, now.Sub(before)) })
		}
		before = now
	}
}

// sum adds up what the processes of a group use.
func sum(all []process.Process, group int) (u Usage, cpu time.Duration) {
	for _, p := range all {
		if p.Group == group && !p.Zombie {
			u.Memory += p.Memory
			u.Processes++
			cpu += p.CPU
		}
	}
	return u, cpu
}

// memory returns the bound of an agent.
func (s *Supervisor) memory(r *Record) int64 { return cmp.Or(r.Memory, s.cfg.Memory) }

// mark is in the environment of all processes of an agent.
func mark(p place) string { return "VOLTBUS_DIR=" + p.in(workDir) }

// passedNames are the variables of the node that agents see too.
var passedNames = []string{
	"LANG", "LC_ALL", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
}

// environment returns what the processes of an agent find in their environment.
func environment(p place) []string {
	env := []string{
		"PATH=" + "/usr/local/bin:/usr/bin:/bin", "HOME=" + p.in(workDir), "TMPDIR=" + p.in(workDir, "tmp"),
		"PYTHONUNBUFFERED=1", "PYTHONDONTWRITEBYTECODE=1",
	}
	for _, name := range passedNames {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// spec says how the process of an agent is started.
func (s *Supervisor) spec(p place, rec *Record) (jail.Spec, []string, error) {
	spec := s.guard.spec(p, rec.UID)
	if len(rec.Program.Args) == 0 {
		return spec, nil, fault.E("agent.start", fault.Corrupt, rec.Name, errors.New("has no version to run; install it again"))
	}
	if err := s.prepare(p, rec); err != nil {
		return spec, nil, err
	}
	spec.Args, spec.Dir = rec.Program.Args, p.in(workDir)
	spec.Show = []string{p.version(rec.Version), p.in(keyFile), p.in(caFile)}
	spec.Read = append(spec.Read, interpreter(rec.Program.Args[0])...)
	spec.Nice, spec.Files = s.cfg.Nice, uint64(s.cfg.Files)
	if limit := s.memory(rec); limit > 0 {
		// A backstop for what is faster than the measuring: private memory, most of which an
		// interpreter never touches.
		spec.Data = uint64(2*limit + 256<<20)
	}
	env := append(environment(p), "VOLTBUS_AGENT="+rec.Name, "VOLTBUS_KEY="+p.in(keyFile), "VOLTBUS_CA="+p.in(caFile), mark(p))
	if s.cfg.Bus != nil {
		env = append(env, "VOLTBUS_BUS="+s.cfg.Bus())
	}
	return spec, env, nil
}

// prepare makes what the process finds in its folders.
func (s *Supervisor) prepare(p place, rec *Record) error {
	if err := s.guard.folders(p, rec.UID); err != nil {
		return err
	}
	tmp := p.in(workDir, "tmp")
	if err := os.Mkdir(tmp, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return fault.E("agent.start", fault.Unavailable, tmp, err)
	} else if err == nil {
		if err := s.guard.own(tmp, s.guard.user(rec.UID), s.guard.user(rec.UID)); err != nil {
			return err
		}
	}
	if s.cfg.CA == "" {
		return nil
	}
	ca, err := os.ReadFile(s.cfg.CA)
	if err == nil {
		err = atomicfile.Writer{}.Write(p.in(caFile), ca, 0o644)
	}
	if err != nil {
		return fault.E("agent.start", fault.Unavailable, s.cfg.CA, err)
	}
	return nil
}

// interpreter returns the folders that a program needs, whose file may be a link elsewhere: that of
// a virtual environment leads to the Python that it was made from.
func interpreter(program string) []string {
	var folders []string
	// Python looks for its environment by the name that it was called by.
	environment := filepath.Dir(filepath.Dir(program))
	if _, err := os.Stat(filepath.Join(environment, "pyvenv.cfg")); err == nil {
		folders = append(folders, environment)
	}
	target, err := filepath.EvalSymlinks(program)
	if err != nil || filepath.Base(filepath.Dir(target)) != "bin" {
		return folders
	}
	if prefix := filepath.Dir(filepath.Dir(target)); prefix != "/" {
		folders = append(folders, prefix)
	}
	return folders
}
