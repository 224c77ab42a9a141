package jail

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"voltbus/internal/seccomp"
)

// attacks are calls that a program without rights can make, or whose arguments the kernel judges first, when nothing filters
// them: each is refused by its number or arguments alone.
var attacks = []struct {
	name string
	call func() unix.Errno
	want unix.Errno
}{
	{"unshare a user namespace", raw(unix.SYS_UNSHARE, unix.CLONE_NEWUSER), unix.EPERM},
	{"clone into a user namespace", raw(unix.SYS_CLONE, unix.CLONE_NEWUSER|uintptr(unix.SIGCHLD)|unix.CLONE_THREAD), unix.EPERM},
	{"clone3", raw(unix.SYS_CLONE3, 0, 1), unix.ENOSYS},
	{"io_uring", raw(unix.SYS_IO_URING_SETUP, 1, 0), unix.ENOSYS},
	{"io_uring_enter", raw(unix.SYS_IO_URING_ENTER, ^uintptr(0)), unix.ENOSYS},
	{"trace", raw(unix.SYS_PTRACE, unix.PTRACE_PEEKDATA, ^uintptr(0)>>33), unix.EPERM},
	{"read a process", raw(unix.SYS_PROCESS_VM_READV, uintptr(os.Getpid()), 0, 0, 0, 0, 1), unix.EPERM},
	{"write a process", raw(unix.SYS_PROCESS_VM_WRITEV, uintptr(os.Getpid()), 0, 0, 0, 0, 1), unix.EPERM},
	{"take another's file", raw(unix.SYS_PIDFD_GETFD, ^uintptr(0), 0, 1), unix.EPERM},
	{"compare processes", raw(unix.SYS_KCMP, 1, 1, 99), unix.EPERM},
	{"ask the keyring", raw(unix.SYS_KEYCTL, 0, ^uintptr(3), 0), unix.EPERM},
	{"add a key", raw(unix.SYS_ADD_KEY), unix.EPERM},
	{"ask for a key", raw(unix.SYS_REQUEST_KEY), unix.EPERM},
	{"load a program into the kernel", raw(unix.SYS_BPF, 99), unix.EPERM},
	{"watch events", raw(unix.SYS_PERF_EVENT_OPEN), unix.EPERM},
	{"handle page faults", raw(unix.SYS_USERFAULTFD, 1), unix.EPERM},
	{"set the time", raw(unix.SYS_CLOCK_SETTIME, 99), unix.EPERM},
	{"move pages", raw(unix.SYS_MOVE_PAGES, ^uintptr(0)>>33), unix.EPERM},
	{"look at mounts", raw(unix.SYS_OPEN_TREE, ^uintptr(0)), unix.EPERM},
	{"open by handle", raw(unix.SYS_OPEN_BY_HANDLE_AT, ^uintptr(0)), unix.EPERM},
	{"enter a namespace", raw(unix.SYS_SETNS, ^uintptr(0)), unix.EPERM},
	{"ask for quotas", raw(unix.SYS_QUOTACTL, 1), unix.EPERM},
	{"type into the terminal", raw(unix.SYS_IOCTL, ^uintptr(0), unix.TIOCSTI), unix.EPERM},
	{"use the kernel's ciphers", raw(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET), unix.EPERM},
	{"reach the host of a virtual machine", raw(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM), unix.EPERM},
	{"read packets", raw(unix.SYS_SOCKET, unix.AF_PACKET, 99), unix.EPERM},
}

func raw(number uintptr, args ...uintptr) func() unix.Errno {
	var a [6]uintptr
	copy(a[:], args)
	return func() unix.Errno {
		_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
		return errno
	}
}

// attack is what the test program does inside of the jail: it prints what was not refused.
func attack() {
	for _, a := range attacks {
		if errno := a.call(); errno != a.want {
			fmt.Printf("%s: %v\n", a.name, errno)
		}
	}
}

// inside runs a program in the jail, with a filter or without one.
func inside(t *testing.T, filter bool, env string, args ...string) string {
	t.Helper()
	spec, err := json.Marshal(Spec{Args: args, Dir: "/", Filter: filter})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "JAIL_SPEC="+string(spec), "JAIL_ENV="+env)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		return fmt.Sprintf("%v: %s", err, out.String())
	}
	return out.String()
}

func needFilter(t *testing.T) {
	t.Helper()
	if !seccomp.Available() {
		t.Skip("this kernel cannot filter calls of the system")
	}
}

func TestAttackCallsThatNoAgentNeedsAreRefused(t *testing.T) {
	needFilter(t)
	if out := inside(t, true, "JAIL_ATTACK=1", os.Args[0]); out != "" {
		t.Errorf("not refused:\n%s", out)
	}
	out := inside(t, false, "JAIL_ATTACK=1", os.Args[0])
	for _, a := range attacks {
		if !strings.Contains(out, a.name) {
			t.Logf("without a filter this is refused here, too: %s", a.name)
		}
	}
	if len(strings.Split(out, "\n")) < len(attacks)/2 {
		t.Errorf("without a filter only these are not refused, so that this shows little:\n%s", out)
	}
}

// What programs do every day goes on: threads, processes, sockets, timers, shared memory.
const everyday = `
import asyncio, ctypes, multiprocessing, os, socket, subprocess, sys, tempfile, threading, time
async def main():
    server = await asyncio.start_server(lambda r, w: w.close(), "127.0.0.1", 0)
    r, w = await asyncio.open_connection(*server.sockets[0].getsockname())
    assert await r.read() == b""
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(1)", stdout=subprocess.PIPE)
    assert (await child.communicate())[0] == b"1\n"
    assert await asyncio.to_thread(os.getpid) == os.getpid()
    server.close()
asyncio.run(main())
assert subprocess.run(["/bin/sh", "-c", "exit 3"]).returncode == 3
thread = threading.Thread(target=time.sleep, args=(0,)); thread.start(); thread.join()
context = multiprocessing.get_context("fork")
child = context.Process(target=time.sleep, args=(0,)); child.start(); child.join(); assert child.exitcode == 0
socket.getaddrinfo("localhost", 80); socket.if_nameindex()
a, b = socket.socketpair(); a.send(b"x"); assert b.recv(1) == b"x"
`

func TestWhatProgramsInPythonDoGoesOn(t *testing.T) {
	needFilter(t)
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	if out := inside(t, true, "PATH=/usr/bin:/bin", python, "-c", everyday); out != "" {
		t.Error(out)
	}
	if exec.Command(python, "-c", "import numpy").Run() != nil {
		return
	}
	if out := inside(t, true, "PATH=/usr/bin:/bin", python, "-c", "import numpy; a = numpy.random.rand(300, 300); numpy.linalg.inv(a @ a.T)"); out != "" {
		t.Error(out)
	}
}

// live is what the test program, as a program in Go, does inside of the jail.
func live() error {
	var many sync.WaitGroup
	for range 100 {
		many.Go(func() { unix.Gettid() })
	}
	many.Wait()
	var exit *exec.ExitError
	if err := exec.Command("/bin/sh", "-c", "exit 3").Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		return fmt.Errorf("start a program: %w", err)
	}
	return nil
}

func TestWhatProgramsInGoDoGoesOn(t *testing.T) {
	needFilter(t)
	if out := inside(t, true, "JAIL_LIVE=1", os.Args[0]); out != "" {
		t.Error(out)
	}
}
