package statement

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denied are the system calls that answering a statement never needs: those that reach the network or other processes, start programs,
// or do such things past this list.
//
//nolint:gochecknoglobals // a table
var denied = []uint32{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT,
}

// Places of struct seccomp_data, and what the filter is made of (linux/seccomp.h, linux/filter.h).
const (
	atNumber, atArch, atFirst = 0, 4, 16 // the first argument's lower half

	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	end     = unix.BPF_RET | unix.BPF_K

	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS) // glibc then takes clone, whose flags the filter sees
	x32    = 0x40000000                                   // where another table of calls begins on x86-64
)

// architecture is this program's as the filter knows it, 0 for one without a filter.
func architecture() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// instructions are the filter: threads may be made and signalled, processes not.
func instructions() []unix.SockFilter {
	list := []unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, K: architecture(), Jt: 1},
		{Code: end, K: refuse},
		{Code: load, K: atNumber},
		{Code: atLeast, K: x32, Jf: 1},
		{Code: end, K: refuse},
		{Code: equal, K: unix.SYS_CLONE3, Jf: 1},
		{Code: end, K: absent},
	}
	for _, number := range denied {
		list = append(list, unix.SockFilter{Code: equal, K: number, Jf: 1}, unix.SockFilter{Code: end, K: refuse})
	}
	return append(list,
		unix.SockFilter{Code: equal, K: unix.SYS_CLONE, Jf: 3}, unix.SockFilter{Code: load, K: atFirst},
		unix.SockFilter{Code: anyBit, K: unix.CLONE_THREAD, Jt: 5}, unix.SockFilter{Code: end, K: refuse},
		unix.SockFilter{Code: equal, K: unix.SYS_TGKILL, Jf: 3}, unix.SockFilter{Code: load, K: atFirst},
		unix.SockFilter{Code: equal, K: uint32(os.Getpid()), Jt: 1}, unix.SockFilter{Code: end, K: refuse},
		unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
}

// filter refuses the calls of the list to all threads of this process, for good. A kernel without such filters is no error: the
// jail of the process holds there too.
func filter() error {
	if architecture() == 0 {
		return nil
	}
	list := instructions()
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(list)
	if errno != 0 && !errors.Is(errno, unix.ENOSYS) && !errors.Is(errno, unix.EINVAL) {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
