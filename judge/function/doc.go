// Package function judges readings with functions in Python, each in a process of its own: without the network and without files, with limits for
// memory and time. A function that raises, does not end or uses too much memory is ended, and started again after a pause that grows; meanwhile its
// rule's setting "failure" decides what becomes of the readings.
package function

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"voltbus/agent/claim"
	"voltbus/agent/guard"
	"voltbus/agent/jail"
	"voltbus/fault"
	"voltbus/internal/seccomp"
	"voltbus/judge"
	"voltbus/judge/setting"
)

// Config tells how the processes of functions are started, in the same way as those of agents: see agent.Config.
type Config struct {
	Exec      []string // the command that becomes the program of a jail.Spec; none: no function can run
	Python    string   // for rules that name no interpreter; "" for python3
	Isolation string   // auto, require or off
	Users     claim.Range
	Data      string // the data directory, which stays invisible
	Nice      int
	Now       func() time.Time
	Log       *slog.Logger
}

// Functions makes the functions of rules.
type Functions struct {
	cfg    Config
	claims *claim.Claims // nil if processes have no users of their own
}

// New returns functions that start no process yet.
func New(cfg Config) *Functions {
	f := &Functions{cfg: cfg}
	if cfg.Isolation != isolationOff && os.Geteuid() == 0 && cfg.Users.Count > 0 && guard.Mapped(cfg.Users) {
		f.claims = claim.New(cfg.Users, cfg.Data)
	}
	return f
}

// The levels of isolation that differ from auto.
const (
	isolationOff     = "off"
	isolationRequire = "require"
)

// Make returns the function of a completed rule, for one destination.
func (f *Functions) Make(rule *setting.Rule, to string) judge.Function {
	return &Function{cfg: &f.cfg, claims: f.claims, rule: *rule, log: f.cfg.Log.With(slog.String("rule", rule.Name), slog.String("destination", to)), user: "judge " + to + " " + rule.Name}
}

// systemNames are what an interpreter needs of the system.
var systemNames = []string{
	"/usr", "/bin", "/lib", "/lib64", "/lib32", "/etc/ld.so.cache", "/etc/localtime", "/etc/alternatives", "/proc/self", "/proc/meminfo", "/proc/cpuinfo", "/sys/devices/system/cpu",
}

// The bounds of a process.
const (
	mostFiles     = 64
	mostProcesses = 64       // and threads, of its own user
	mostWritten   = 1 << 20  // bytes of a file
	ownMemory     = 32 << 20 // of the interpreter, beside what the rule may use
)

// spec returns what a process may do. A uid of 0 is the node's user.
func (f *Function) spec(uid int) (*jail.Spec, error) {
	python, err := interpreter(cmp.Or(f.rule.Python, f.cfg.Python), uid != 0)
	if err != nil {
		return nil, err
	}
	s := &jail.Spec{
		Args: []string{python, "-I", "-B", "-X", "utf8", "-c", boot}, Dir: "/", Parent: os.Getpid(), Hide: f.cfg.Data,
		Nice: f.cfg.Nice, Files: mostFiles, Data: uint64(f.rule.MemoryMiB)<<20 + ownMemory, FileSize: mostWritten, //nolint:gosec // a setting that was checked
	}
	if uid != 0 {
		s.User, s.Processes = &jail.User{UID: uid, GID: uid}, mostProcesses
	}
	if f.cfg.Isolation == isolationOff {
		return s, nil
	}
	s.Landlock, s.Filter, s.Offline = jail.Version() > 0, seccomp.Available(), seccomp.Available()
	s.Read = slices.Concat(systemNames, guard.Interpreter(python))
	if f.cfg.Isolation == isolationRequire && (!s.Offline || (!s.Landlock && uid == 0)) {
		return nil, errors.New("agents.isolation is require, but this machine cannot isolate the process: it needs Linux 5.13 or later with seccomp; or write auto")
	}
	return s, nil
}

const systemPython = "/usr/bin/python3"

// interpreter finds the program of Python: one that the users of processes can reach, if there is one.
func interpreter(name string, users bool) (string, error) {
	chosen := name != ""
	found, err := exec.LookPath(cmp.Or(name, "python3"))
	if err != nil {
		return "", fmt.Errorf("find the interpreter: %w; name one in the key python of the rule, or in agents.python", err)
	}
	if found, err = filepath.Abs(found); err != nil {
		return "", fmt.Errorf("find the interpreter: %w", err)
	}
	target, err := filepath.EvalSymlinks(found)
	if err != nil {
		return "", fmt.Errorf("find the interpreter: %w", err)
	}
	// A shim chooses an interpreter by what is in the home directory, which the process cannot see.
	unfit := strings.Contains(target, "/shims/") || (users && guard.Closed(target))
	if _, err := os.Stat(systemPython); unfit && !chosen && err == nil {
		return systemPython, nil
	}
	return found, nil
}

// errNone says why no function can run.
var errNone = fault.E("judge.Function", fault.Unavailable, "", errors.New("this program cannot start processes"))
