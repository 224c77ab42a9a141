// Package jail starts a program with fewer rights than its parent: as a separate user, with access only to given directories, with
// resource limits, and never outliving its parent. It is the inner half of the isolation of agents: a process calls Exec and becomes
// the program.
package jail

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"

	"voltbus/fault"
)

// User is the user as which a program runs.
type User struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Spec tells what to start, and with which rights. It travels as JSON from the parent to Exec.
type Spec struct {
	Args   []string `json:"args"`   // the program, with its full path, and its arguments
	Dir    string   `json:"dir"`    // the working directory
	Parent int      `json:"parent"` // the process that must still be the parent
	User   *User    `json:"user"`   // nil keeps the user
	// Landlock makes everything except Read and Write invisible.
	Landlock bool     `json:"landlock"`
	Read     []string `json:"read"`              // may be read and executed, recursively; missing paths are skipped
	Write    []string `json:"write"`             // may also be written
	Filter   bool     `json:"filter"`            // refuses system calls that no agent needs, see filter.go
	Offline  bool     `json:"offline,omitempty"` // with Filter, refuses all sockets
	Hide     string   `json:"hide"`              // stays invisible, even below a path of Read
	Show     []string `json:"show"`              // may be read although it lies below Hide
	Nice     int      `json:"nice"`              // 0 to 19; higher values yield the processor to others
	Files    uint64   `json:"files"`             // maximum open files; 0 keeps the parent's limit
	Data     uint64   `json:"data"`              // maximum private memory in bytes; 0 for no limit
	// Processes is how many processes and threads its user may have; 0 for no limit. It applies only with a
	// User of its own: otherwise the user's other programs would count too.
	Processes uint64 `json:"processes"`
	FileSize  uint64 `json:"file_size"` // maximum size in bytes of a file that it writes; 0 for no limit
	// Complaint is an open file to which Exec writes its error, and which is closed empty when the program has started;
	// 0 for none.
	Complaint int `json:"complaint,omitempty"`
	// Gate is an open file from which Exec reads a byte before it does anything; 0 for none. If the file ends instead, it does nothing.
	Gate int `json:"gate,omitempty"`
	// Watch has Exec become no program, but watch over process groups, see Line.
	Watch bool `json:"watch,omitempty"`
}

var (
	errParent = errors.New("the node that starts it has ended")
	errGate   = errors.New("it may not run here any more")
)

// Exec gives up rights and becomes the program. It returns only if that fails.
func (s *Spec) Exec(env []string) error {
	if s.Watch {
		watchInput()
	}
	if s.Complaint > 0 {
		unix.CloseOnExec(s.Complaint)
	}
	err := s.pass()
	if err == nil {
		err = s.become(env)
	}
	if s.Complaint > 0 {
		_, _ = unix.Write(s.Complaint, []byte(err.Error())) // without a reader the exit of the process tells
	}
	return err
}

// pass waits at the gate.
func (s *Spec) pass() error {
	if s.Gate <= 0 {
		return nil
	}
	gate := os.NewFile(uintptr(s.Gate), "gate")
	defer gate.Close()
	if n, _ := gate.Read(make([]byte, 1)); n == 0 { // its end is the answer, and so is an error
		return fault.E("jail.Exec", fault.Unavailable, "", errGate)
	}
	return nil
}

// become is Exec without a complaint.
func (s *Spec) become(env []string) error {
	if len(s.Args) == 0 {
		return fault.E("jail.Exec", fault.Invalid, "args", errors.New("name the program to start"))
	}
	// Landlock, filters, capabilities and no_new_privs belong to a thread, and exec keeps those of the one
	// that calls it.
	runtime.LockOSThread()
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"bound its resources", s.bound},
		{"change its user", s.changeUser},
		{"tie it to its parent", s.tie},
		{"give up the rights of root", drop},
		{"hide the file system", s.lock},
		{"enter its folder", func() error { return os.Chdir(s.Dir) }},
		{"filter its calls of the system", s.filter},
	} {
		if err := step.do(); err != nil {
			return fault.E("jail.Exec", fault.Unavailable, s.Args[0], fmt.Errorf("%s: %w", step.what, err))
		}
	}
	err := syscall.Exec(s.Args[0], s.Args, env)
	return fault.E("jail.Exec", fault.Unavailable, s.Args[0], fmt.Errorf("start it: %w", err))
}

func (s *Spec) bound() error {
	unix.Umask(0o077)
	if err := unix.CloseRange(3, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if s.Files > 0 {
		limits[unix.RLIMIT_NOFILE] = s.Files
	}
	if s.Data > 0 {
		limits[unix.RLIMIT_DATA] = s.Data
	}
	if s.Processes > 0 && s.User != nil {
		limits[unix.RLIMIT_NPROC] = s.Processes
	}
	if s.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = s.FileSize
	}
	for which, most := range limits {
		if err := lower(which, most); err != nil {
			return err
		}
	}
	if s.Nice > 0 {
		return unix.Setpriority(unix.PRIO_PROCESS, 0, s.Nice)
	}
	return nil
}

// lower sets a limit, unless the current one is lower.
func lower(which int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(which, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	// Package syscall would otherwise restore the file limit that the parent started with.
	return syscall.Setrlimit(which, &syscall.Rlimit{Cur: most, Max: most})
}

func (s *Spec) changeUser() error {
	if s.User == nil {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return err
	}
	if err := syscall.Setresgid(s.User.GID, s.User.GID, s.User.GID); err != nil {
		return err
	}
	return syscall.Setresuid(s.User.UID, s.User.UID, s.User.UID)
}

// tie ends the program when its parent ends. A change of the user would undo it, so it comes later.
func (s *Spec) tie() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	if s.Parent > 0 && os.Getppid() != s.Parent {
		return errParent
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}

// drop gives up all capabilities for good, including those that exec would give to root: otherwise a process
// that stays root could read the memory of other processes despite Landlock.
func drop() error {
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT and its lock
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
