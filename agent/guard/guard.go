// Package guard isolates agents from the rest of the machine, with the means available on the machine.
package guard

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"voltbus/agent/claim"
	"voltbus/agent/jail"
	"voltbus/agent/place"
	"voltbus/fault"
	"voltbus/internal/seccomp"
)

// systemNames are the folders readable by every agent.
var systemNames = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/etc", "/opt", "/proc", "/sys", "/run/systemd/resolve",
}

// Config tells how to isolate agents.
type Config struct {
	Data      string      // the data directory, invisible to agents
	Off       bool        // no isolation, for experiments
	Required  bool        // no agent starts if no isolation is available
	Users     claim.Range // users for agents
	Read      []string    // further paths that agents may read
	Write     []string    // further paths that agents may read and write
	Processes int         // maximum processes and threads of an agent with its own user; 0 for no limit
	FileSize  int64       // maximum size in bytes of a file that an agent writes; 0 for no limit
	Log       *slog.Logger
}

// Guard is the isolation available on this machine.
type Guard struct {
	Landlock bool   // the kernel restricts agents' access to files
	Users    bool   // agents run as their own users
	WhyNot   string // why they have none
	required bool
	root     bool
	filter   bool   // of system calls
	data     string // invisible to agents
	read     []string
	write    []string

	processes, fileSize uint64 // limits, see jail.Spec
}

// New returns the isolation available here. With users it makes the data directory inaccessible to them.
func New(cfg *Config) (Guard, error) {
	data, err := filepath.EvalSymlinks(cfg.Data)
	if err != nil {
		return Guard{}, fault.E("agent.Open", fault.Unavailable, cfg.Data, err)
	}
	g := Guard{
		required: cfg.Required, root: os.Geteuid() == 0, data: data, read: cfg.Read, write: cfg.Write,
		processes: uint64(max(cfg.Processes, 0)), fileSize: uint64(max(cfg.FileSize, 0)),
	}
	if cfg.Off {
		g.WhyNot = "agents.isolation is off"
		return g, nil
	}
	g.Landlock, g.filter = jail.Version() > 0, seccomp.Available()
	if !g.filter {
		cfg.Log.Warn("agents run without a filter of system calls, which this kernel or architecture does not have")
	}
	g.WhyNot = noUsers(data, cfg.Users)
	g.Users = g.WhyNot == ""
	if g.Users {
		return g, g.shut()
	}
	return g, nil
}

// noUsers returns why agents cannot run as their own users, or "".
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

// closedTo returns the folder on the way to a path that others may not enter, "" if there is none.
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

// shut makes the path to the agents' folders in the data directory passable, and closes everything else in
// it: whoever may enter a folder may open files whose names are known.
func (g *Guard) shut() error {
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
	for _, dir := range []string{g.data, filepath.Join(g.data, place.Agents)} {
		if err := os.Chmod(dir, 0o711); err != nil {
			return fault.E("agent.Open", fault.Unavailable, dir, err)
		}
	}
	return nil
}

var errUnguarded = errors.New("agents.isolation is require, but the node does not run as root and this kernel has no Landlock; run the node as root, use Linux 5.13 or later, or write auto")

// Check returns an error if agents must not start here.
func (g *Guard) Check() error {
	if g.required && !g.Landlock && !g.Users {
		return fault.E("agent.start", fault.Refused, "", errUnguarded)
	}
	return nil
}

// Names lists the means that isolate an agent.
func (g *Guard) Names(uid int) []string {
	out := []string{}
	if g.Users && uid != 0 {
		out = append(out, "user")
	}
	if g.Landlock {
		out = append(out, "landlock")
	}
	if g.filter && len(out) > 0 { // alone it does not protect agents' files from each other
		out = append(out, "seccomp")
	}
	return out
}

// Spec is the part of a jail common to all processes of an agent.
func (g *Guard) Spec(p place.Place, uid int) jail.Spec {
	s := jail.Spec{
		Landlock: g.Landlock, Filter: g.filter, Parent: os.Getpid(), Hide: g.data,
		Write: append([]string{p.In(place.Work)}, g.write...), Processes: g.processes, FileSize: g.fileSize,
	}
	if uid = g.User(uid); uid != 0 {
		s.User = &jail.User{UID: uid, GID: uid}
	}
	s.Read = append(append(s.Read, systemNames...), g.read...)
	return s
}

// Folders creates an agent's folders, and sets their owners.
func (g *Guard) Folders(p place.Place, uid int) error {
	uid = g.User(uid)
	for _, d := range []struct {
		dir  string
		mode fs.FileMode
		uid  int
	}{{p.In(), 0o750, 0}, {p.In(place.Versions), 0o750, 0}, {p.In(place.Work), 0o700, uid}, {p.In(place.Log), 0o700, 0}} {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return fault.E("agent.folders", fault.Unavailable, d.dir, err)
		}
		if err := g.Own(d.dir, d.uid, uid); err != nil {
			return err
		}
		if err := os.Chmod(d.dir, d.mode&^g.others(uid)); err != nil {
			return fault.E("agent.folders", fault.Unavailable, d.dir, err)
		}
	}
	return g.hand(p, uid)
}

// hand transfers an agent's files to its user, if that has changed: a node may run as root at one time and
// not at another, or be told to isolate agents differently.
func (g *Guard) hand(p place.Place, uid int) error {
	info, err := os.Stat(p.In(place.Key))
	if !g.root || errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fault.E("agent.hand", fault.Unavailable, p.In(place.Key), err)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) == uid {
		return nil
	}
	if err := g.OwnAll(p.In(place.Work), uid, uid); err != nil {
		return err
	}
	if err := g.OwnAll(p.In(place.Versions), 0, uid); err != nil {
		return err
	}
	return g.Own(p.In(place.Key), uid, uid)
}

// User returns the user as which an agent runs if it has its own here; 0 for the node's.
func (g *Guard) User(uid int) int {
	if !g.Users {
		return 0
	}
	return uid
}

// others are the rights of other users, which nobody needs if the agent has no user of its own.
func (g *Guard) others(uid int) fs.FileMode {
	if uid == 0 {
		return 0o077
	}
	return 0
}

// Own changes the owner of a file, if the node may.
func (g *Guard) Own(file string, uid, gid int) error {
	if !g.root {
		return nil
	}
	if err := os.Lchown(file, uid, gid); err != nil {
		return fault.E("agent.own", fault.Unavailable, file, fmt.Errorf("give it to the agent's user: %w", err))
	}
	return nil
}

// OwnAll gives a folder and everything in it to a user, without following links.
func (g *Guard) OwnAll(dir string, uid, gid int) error {
	err := g.walk(dir, func(root *os.Root, path string, _ fs.FileInfo) error { return root.Lchown(path, uid, gid) })
	if err != nil {
		return fault.E("agent.own", fault.Unavailable, dir, fmt.Errorf("give it to the agent's user: %w", err))
	}
	return nil
}

// Reachable reports whether an agent's user can execute a file.
func (g *Guard) Reachable(file string) bool {
	target, err := filepath.EvalSymlinks(file)
	if err != nil {
		return false
	}
	return closedTo(filepath.Dir(target)) == "" && !strings.HasPrefix(target, g.data+"/")
}

// Seal gives a folder and its content to the node's user, and lets the agent's user read and execute it.
// Processes left by the agent's user may change the folder meanwhile: nothing outside it is touched.
func (g *Guard) Seal(dir string, uid int) error {
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

// walk calls visit for a folder and its content, if the node may change owners. It does not follow links out
// of the folder, even if a process creates one meanwhile.
func (g *Guard) walk(dir string, visit func(root *os.Root, path string, info fs.FileInfo) error) error {
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
