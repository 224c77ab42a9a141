// Package jail starts a program with fewer rights than its parent: as a separate user, with access only to given directories, with
// resource limits, and never outliving its parent. It is the inner half of the isolation of agents: a process calls Exec on itself and
// becomes the program.
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

// User is who a program runs as.
type User struct {
	UID int `json:"uid"`
	GID int `json:"gid"`
}

// Spec says what to start, and with which rights. It travels as JSON from the parent to Exec.
type Spec struct {
	Args   []string `json:"args"`   // the program, with its whole path, and its arguments
	Dir    string   `json:"dir"`    // the working directory
	Parent int      `json:"parent"` // the process that must still be the parent
	User   *User    `json:"user"`   // nil keeps the user
	// Landlock makes everything invisible but Read and Write.
	Landlock bool     `json:"landlock"`
	Read     []string `json:"read"`   // may be read and executed, with all below; what is absent is left out
	Write    []string `json:"write"`  // may also be written
	Filter   bool     `json:"filter"` // refuses calls of the system that no agent needs, see filter.go
	Hide     string   `json:"hide"`   // stays invisible, even where it lies below one of Read
	Show     []string `json:"show"`   // may be read although it lies below Hide
	Nice     int      `json:"nice"`   // 0 to 19; more gives others the processor first
	Files    uint64   `json:"files"`  // most open files; 0 keeps the parent's bound
	Data     uint64   `json:"data"`   // most bytes of private memory; 0 for no bound
	// Processes is how many processes and threads its user may have; 0 for no bound. It holds for a
	// User of its own only: another one's other programs would count too.
	Processes uint64 `json:"processes"`
	FileSize  uint64 `json:"file_size"` // most bytes of one file that it writes; 0 for no bound
	// Complaint is an open file that gets the words of the error of Exec, and is closed without any when the program has
	// started; 0 for none.
	Complaint int `json:"complaint,omitempty"`
}

var errParent = errors.New("the node that starts it has ended")

// Exec gives up rights and becomes the program. It returns only if that fails.
func (s *Spec) Exec(env []string) error {
	if s.Complaint > 0 {
		unix.CloseOnExec(s.Complaint)
	}
	err := s.become(env)
	if s.Complaint > 0 {
		_, _ = unix.Write(s.Complaint, []byte(err.Error())) // who does not listen sees how the process ends
	}
	return err
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

// lower sets a bound, or the one that holds already if that is tighter.
func lower(which int, most uint64) error {
	var now syscall.Rlimit
	if err := syscall.Getrlimit(which, &now); err != nil {
		return err
	}
	most = min(most, now.Max)
	// The package syscall would put back the number of files that the parent began with.
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

// drop gives up all capabilities for good, also those that exec would give to root: a root that
// keeps its user reads the memory of other processes past Landlock otherwise.
func drop() error {
	const noRoot = 1<<0 | 1<<1 // SECBIT_NOROOT and its lock
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, noRoot, 0, 0, 0); err != nil && !errors.Is(err, unix.EPERM) {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	return unix.Capset(&header, &none[0])
}
