// Package process inspects the processes of this machine, and ends exactly the intended ones: identified by process id and start time,
// never by name.
package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Process is a process as reported by the kernel.
type Process struct {
	PID     int
	Group   int
	Started uint64        // ticks since the machine booted; with PID it identifies one process
	CPU     time.Duration // processor time used
	Memory  int64         // bytes resident
	Zombie  bool          // it has ended, and its parent has not waited for it yet
}

// tick is the kernel's unit of processor time, the same on all architectures.
const tick = 10 * time.Millisecond

// Read returns a process; os.ErrNotExist if it does not exist.
func Read(pid int) (Process, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if errors.Is(err, syscall.ESRCH) {
		err = os.ErrNotExist
	}
	if err != nil {
		return Process{}, err
	}
	return parse(pid, b)
}

// parse reads the line that proc(5) describes. The name in it may contain anything, so only the part after
// the last parenthesis is parsed.
func parse(pid int, line []byte) (Process, error) {
	p := Process{PID: pid}
	fields := bytes.Fields(line[bytes.LastIndexByte(line, ')')+1:])
	if len(fields) < 22 {
		return p, fmt.Errorf("read process %d: %d fields are too few", pid, len(fields))
	}
	p.Zombie = fields[0][0] == 'Z' || fields[0][0] == 'X'
	var user, system, pages uint64
	for _, f := range []struct {
		at   int
		into *uint64
	}{{11, &user}, {12, &system}, {19, &p.Started}, {21, &pages}} {
		n, err := strconv.ParseUint(string(fields[f.at]), 10, 64)
		if err != nil {
			return p, fmt.Errorf("read process %d: %w", pid, err)
		}
		*f.into = n
	}
	group, err := strconv.Atoi(string(fields[2]))
	p.Group, p.CPU = group, time.Duration(user+system)*tick
	p.Memory = int64(pages) * int64(os.Getpagesize())
	return p, err
}

// List returns all visible processes.
func List() ([]Process, error) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []Process
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, err := Read(pid); err == nil { // it may have ended meanwhile
			list = append(list, p)
		}
	}
	return list, nil
}

// Users returns the users that have processes.
func Users() (map[int]bool, error) {
	list, err := List()
	if err != nil {
		return nil, err
	}
	users := make(map[int]bool)
	for _, p := range list {
		users[Owner(p.PID)] = true
	}
	delete(users, -1) // one that ended meanwhile
	return users, nil
}

// Boot identifies the current boot of the machine; a pid means nothing in another one.
func Boot() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// Owner returns the user of a process, -1 if there is none.
func Owner(pid int) int {
	info, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid)))
	if err != nil {
		return -1
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(st.Uid)
	}
	return -1
}

// marked reports whether the process was started with a variable in its environment.
func marked(pid int, variable string) bool {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(b, []byte{0}) {
		if string(entry) == variable {
			return true
		}
	}
	return false
}

// Orphan names a process whose node has ended.
type Orphan struct {
	PID     int    `json:"pid"`
	Started uint64 `json:"started"`
	Boot    string `json:"boot"`
	// Mark is the environment variable, as NAME=value, that identifies members of its group when the process
	// itself has ended.
	Mark string `json:"mark"`
}

// End kills the orphan and the rest of its group, and returns the number of processes killed. One that has
// ended, or whose pid now belongs to another process, is left alone.
func (o Orphan) End() (int, error) {
	if o.PID <= 1 || o.Boot == "" || o.Boot != Boot() {
		return 0, nil
	}
	list, err := List()
	if err != nil {
		return 0, fmt.Errorf("look for processes that are left: %w", err)
	}
	var errs []error
	ended := 0
	for _, p := range list {
		if p.Group != o.PID || p.Zombie || p.Started < o.Started {
			continue
		}
		if leader := p.PID == o.PID && p.Started == o.Started; !leader && !marked(p.PID, o.Mark) {
			continue
		}
		switch err := p.kill(); {
		case err == nil:
			ended++
		case !errors.Is(err, os.ErrNotExist):
			errs = append(errs, err)
		}
	}
	return ended, errors.Join(errs...)
}

// kill kills exactly this process, and waits until it has ended.
func (p Process) kill() error {
	fd, err := unix.PidfdOpen(p.PID, 0)
	if errors.Is(err, unix.ESRCH) {
		return os.ErrNotExist
	} else if err != nil {
		return fmt.Errorf("end process %d: %w", p.PID, err)
	}
	defer unix.Close(fd)
	// The descriptor refers to one process, so exactly this process is inspected.
	if now, err := Read(p.PID); err != nil || now.Started != p.Started {
		return os.ErrNotExist
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0); err != nil && !errors.Is(err, unix.ESRCH) {
		return fmt.Errorf("end process %d: %w", p.PID, err)
	}
	_, err = unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 5000)
	if err != nil && !errors.Is(err, unix.EINTR) {
		return fmt.Errorf("wait for process %d: %w", p.PID, err)
	}
	return nil
}

// EndUser kills all processes of a user that belongs to no person. It is for those that left their group.
func EndUser(uid int) {
	if uid <= 0 {
		return
	}
	list, err := List()
	if err != nil {
		return // no processes are visible, so none can be ended
	}
	for _, p := range list {
		if !p.Zombie && Owner(p.PID) == uid {
			_ = p.kill() // it may have ended meanwhile
		}
	}
}
