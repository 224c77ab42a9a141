package statement

import (
	"os"

	"golang.org/x/sys/unix"

	"voltbus/internal/seccomp"
)

// denied are the system calls that answering a statement never needs: those that reach the network or other processes, start programs,
// or do such things bypassing this list.
//
//nolint:gochecknoglobals // a table
var denied = []uint32{
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_EXECVE, unix.SYS_EXECVEAT,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_IO_URING_SETUP, unix.SYS_BPF, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_MOUNT, unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT,
}

// filter denies system calls to all threads of this process, permanently: threads may be created and signalled, processes not. A
// kernel without such filters is no error: the other limits of the process still apply.
func filter() error {
	if !seccomp.Available() {
		return nil
	}
	f := seccomp.Filter{
		Denied: denied, Absent: []uint32{unix.SYS_CLONE3}, // glibc then uses clone, whose flags the filter can check
		Rules: []seccomp.Rule{
			{Call: unix.SYS_CLONE, Test: seccomp.None, Value: unix.CLONE_THREAD},
			{Call: unix.SYS_TGKILL, Test: seccomp.Other, Value: uint32(os.Getpid())},
		},
	}
	return f.Process()
}
