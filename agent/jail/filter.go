package jail

import (
	"slices"

	"golang.org/x/sys/unix"

	"voltbus/internal/seccomp"
)

// denied are the system calls that no agent needs, in Python, Go or another language: those that change the machine,
// create file systems and namespaces, inspect other processes, or reach parts of the kernel that programs seldom need but
// attackers often use.
//
//nolint:gochecknoglobals // a table
var denied = []uint32{
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
	unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
	unix.SYS_MOVE_PAGES, unix.SYS_MIGRATE_PAGES,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_NFSSERVCTL, unix.SYS_LOOKUP_DCOOKIE,
	unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
}

// missing are calls reported as not implemented by the kernel, so that programs do without them.
//
//nolint:gochecknoglobals // a table
var missing = []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

// families are the kinds of sockets that no agent needs.
//
//nolint:gochecknoglobals // a table
var families = []uint32{
	unix.AF_ALG, unix.AF_KCM, unix.AF_KEY, unix.AF_PACKET, unix.AF_RDS, unix.AF_SMC, unix.AF_TIPC, unix.AF_VSOCK, unix.AF_XDP,
}

// sockets are what a program without the network may not call.
//
//nolint:gochecknoglobals // a table
var sockets = []uint32{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG}

const namespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// filter refuses calls to the program.
func (s *Spec) filter() error {
	if !s.Filter {
		return nil
	}
	f := seccomp.Filter{
		Denied: append(denied, deniedHere()...), Absent: missing,
		Rules: []seccomp.Rule{
			{Call: unix.SYS_CLONE, Test: seccomp.Any, Value: namespaces},
			{Call: unix.SYS_IOCTL, Argument: 1, Test: seccomp.Equal, Value: unix.TIOCSTI}, // injects input into a terminal
			{Call: unix.SYS_IOCTL, Argument: 1, Test: seccomp.Equal, Value: unix.TIOCLINUX},
		},
	}
	for _, family := range families {
		f.Rules = append(f.Rules, seccomp.Rule{Call: unix.SYS_SOCKET, Test: seccomp.Equal, Value: family},
			seccomp.Rule{Call: unix.SYS_SOCKETPAIR, Test: seccomp.Equal, Value: family})
	}
	if s.Offline {
		f.Denied = slices.Concat(f.Denied, sockets)
	}
	return f.Thread()
}
