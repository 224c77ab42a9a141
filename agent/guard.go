package agent

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"voltbus/agent/claim"
	"voltbus/agent/jail"
	"voltbus/fault"
	"voltbus/internal/seccomp"
)

// Isolation says how much agents are kept from the rest of the machine.
type Isolation string

// The ways.
const (
	Auto    Isolation = "auto"    // all that this machine can do
	Require Isolation = "require" // the same, and no agent starts if that is nothing
	Off     Isolation = "off"     // none, for trying things out
)

// systemNames are the folders that every agent may read.
var systemNames = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc", "/opt", "/proc", "/sys", "/run/systemd/resolve",
}

// guard is the isolation that this machine can do.
type guard struct {
	mode     Isolation
	root     bool
	landlock bool
	filter   bool // of calls of the system
	users    bool
	whyNot   string // why agents have no users of their own
	data     string // what no agent may see
	read     []string
	write    []string

	processes, fileSize uint64 // bounds of what runs, see jail.Spec
}

func newGuard(cfg *Config) (guard, error) {
	data, err := filepath.EvalSymlinks(cfg.Data)
	if err != nil {
		return guard{}, fault.E("agent.Open", fault.Unavailable, cfg.Data, err)
	}
	g := guard{
		mode: cfg.Isolation, root: os.Geteuid() == 0, data: data, read: cfg.Read, write: cfg.Write,
		processes: uint64(max(cfg.Processes, 0)), fileSize: uint64(max(cfg.FileSize, 0)),
	}
	if cfg.Isolation == Off {
		g.whyNot = "agents.isolation is off"
		return g, nil
	}
	g.landlock, g.filter = jail.Version() > 0, seccomp.Available()
	if !g.filter {
		cfg.Log.Warn("agents run without a filter of system calls, which this kernel or architecture does not have")
	}
	g.whyNot = noUsers(data, cfg.Users)
	g.users = g.whyNot == ""
	if g.users {
		return g, g.shut()
	}
	return g, nil
}

// noUsers says why agents cannot have users of their own, or "".
func noUsers(data string, u claim.Range) string {
	switch {
	case os.Geteuid() != 0:
		return "the node does not run as root"
	case u.Count == 0:
		return "agents.users.count is 0"
	case !mapped(u.First, u.First+u.Count-1):
		return "this container does not have the users of agents.users"
	}
	if at := closedTo(filepath.Dir(data)); at != "" {
		return fmt.Sprintf("the data directory lies in %s, which other users may not enter", at)
	}
	return ""
}

// mapped reports whether the users exist in this container.
func mapped(first, last int) bool {
	file, err := os.Open("/proc/self/uid_map")
	if err != nil {
		return true
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var inside, outside, count int
		if _, err := fmt.Sscan(lines.Text(), &inside, &outside, &count); err == nil && first >= inside && last < inside+count {
			return true
		}
	}
	return false
}

// closedTo returns the folder on the way to a path that others may not enter, or "".
func closedTo(path string) string {
	for p := path; ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil || (info.IsDir() && info.Mode().Perm()&0o001 == 0) {
			return p
		}
		if p == filepath.Dir(p) {
			return ""
		}
	}
}

// shut opens the data directory for a way to the agents' folders, and closes everything else in
// it: who may enter a folder may open what it knows the name of.
func (g *guard) shut() error {
	entries, err := os.ReadDir(g.data)
	if err != nil {
		return fault.E("agent.Open", fault.Unavailable, g.data, err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) || (err == nil && info.Mode()&(fs.ModeSymlink|0o077) == 0) {
			continue
		} else if err != nil {
			return fault.E("agent.Open", fault.Unavailable, g.data, err)
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			continue
		}
		if err := os.Chmod(filepath.Join(g.data, e.Name()), info.Mode().Perm()&^0o077); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fault.E("agent.Open", fault.Unavailable, g.data, err)
		}
	}
	for _, dir := range []string{g.data, filepath.Join(g.data, folder)} {
		if err := os.Chmod(dir, 0o711); err != nil {
			return fault.E("agent.Open", fault.Unavailable, dir, err)
		}
	}
	return nil
}

var errUnguarded = errors.New("agents.isolation is require, but the node does not run as root and this kernel has no Landlock; run the node as root, use Linux 5.13 or later, or write auto")

// check returns an error if agents must not be started here.
func (g *guard) check() error {
	if g.mode == Require && !g.landlock && !g.users {
		return fault.E("agent.start", fault.Refused, "", errUnguarded)
	}
	return nil
}

// names lists what an agent is isolated by.
func (g *guard) names(uid int) []string {
	out := []string{}
	if g.users && uid != 0 {
		out = append(out, "user")
	}
	if g.landlock {
		out = append(out, "landlock")
	}
	if g.filter && len(out) > 0 { // alone it keeps no agent from another one's files
		out = append(out, "seccomp")
	}
	return out
}

// spec is the part of a jail that is the same for all processes of an agent.
func (g *guard) spec(p place, uid int) jail.Spec {
	s := jail.Spec{
		Landlock: g.landlock, Filter: g.filter, Parent: os.Getpid(), Hide: g.data,
		Write: append([]string{p.in(workDir)}, g.write...), Processes: g.processes, FileSize: g.fileSize,
	}
	if uid = g.user(uid); uid != 0 {
		s.User = &jail.User{UID: uid, GID: uid}
	}
	s.Read = append(append(s.Read, systemNames...), g.read...)
	return s
}

// folders makes an agent's folders, and gives them their owners.
func (g *guard) folders(p place, uid int) error {
	uid = g.user(uid)
	for _, d := range []struct {
		dir  string
		mode fs.FileMode
		uid  int
	}{{p.in(), 0o750, 0}, {p.in(versionsDir), 0o750, 0}, {p.in(workDir), 0o700, uid}, {p.in(logDir), 0o700, 0}} {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return fault.E("agent.folders", fault.Unavailable, d.dir, err)
		}
		if err := g.own(d.dir, d.uid, uid); err != nil {
			return err
		}
		if err := os.Chmod(d.dir, d.mode&^g.others(uid)); err != nil {
			return fault.E("agent.folders", fault.Unavailable, d.dir, err)
		}
	}
	return g.hand(p, uid)
}

// hand gives what is the agent's to its user, if that has changed: a node may run as root once, and
// once not, or be told to isolate agents in another way.
func (g *guard) hand(p place, uid int) error {
	info, err := os.Stat(p.in(keyFile))
	if !g.root || errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fault.E("agent.hand", fault.Unavailable, p.in(keyFile), err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
		return nil
	}
	if err := g.ownAll(p.in(workDir), uid, uid); err != nil {
		return err
	}
	if err := g.ownAll(p.in(versionsDir), 0, uid); err != nil {
		return err
	}
	return g.own(p.in(keyFile), uid, uid)
}

// user returns who an agent with a user of its own runs as here; 0 for the node's.
func (g *guard) user(uid int) int {
	if !g.users {
		return 0
	}
	return uid
}

// others are the rights that nobody needs when the agent has no user of its own.
func (g *guard) others(uid int) fs.FileMode {
	if uid == 0 {
		return 0o077
	}
	return 0
}

// own changes the owner of a file, if the node may.
func (g *guard) own(file string, uid, gid int) error {
	if !g.root {
		return nil
	}
	if err := os.Lchown(file, uid, gid); err != nil {
		return fault.E("agent.own", fault.Unavailable, file, fmt.Errorf("give it to the agent's user: %w", err))
	}
	return nil
}

// ownAll gives all below a folder to a user, without following links.
func (g *guard) ownAll(dir string, uid, gid int) error {
	err := g.walk(dir, func(root *os.Root, path string, _ fs.FileInfo) error { return root.Lchown(path, uid, gid) })
	if err != nil {
		return fault.E("agent.own", fault.Unavailable, dir, fmt.Errorf("give it to the agent's user: %w", err))
	}
	return nil
}

// reachable reports whether an agent's user can start the program in a file.
func (g *guard) reachable(file string) bool {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	return closedTo(filepath.Dir(target)) == "" && !strings.HasPrefix(target, g.data+"/")
}

// seal gives all below a folder to the node's user, and lets the agent's read and execute it. What
// the agent's user left behind may still change the folder meanwhile: nothing outside is touched.
func (g *guard) seal(dir string, uid int) error {
	return g.walk(dir, func(root *os.Root, path string, info fs.FileInfo) error {
		if owner := ownerOf(info); owner != uid && owner != 0 {
			return fault.E("agent.seal", fault.Refused, path, fmt.Errorf("belongs to the user %d, and not to the agent; install it again", owner))
		}
		if err := root.Lchown(path, 0, uid); err != nil || info.Mode()&fs.ModeSymlink != 0 {
			return err
		}
		mode := info.Mode().Perm() & 0o700
		return root.Chmod(path, mode|mode>>3&0o050)
	})
}

// walk calls visit for a folder and all below, where the node may change owners. Links are not
// followed out of it, also when somebody puts one there meanwhile.
func (g *guard) walk(dir string, visit func(root *os.Root, path string, info fs.FileInfo) error) error {
	if !g.root {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := root.Lstat(path)
		if err != nil {
			return err
		}
		return visit(root, path, info)
	})
}

// ownerOf returns the user that a file belongs to.
func ownerOf(info fs.FileInfo) int {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}
