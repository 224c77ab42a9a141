// Package seccomp denies system calls to this process, or to one of its threads and what that thread executes, permanently.
package seccomp

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Filter lists what is refused. Everything else is allowed.
type Filter struct {
	Denied []uint32 // calls that give EPERM
	// Absent are calls that give ENOSYS, as an older kernel does, so that programs fall back to older calls: such as
	// clone3, whose arguments filters cannot see.
	Absent []uint32
	Rules  []Rule // by their arguments
}

// Rule refuses a call, with EPERM, by the lower half of an argument.
type Rule struct {
	Call     uint32
	Argument uint32 // its index, from 0
	Test     Test
	Value    uint32
}

// Test is the condition under which a Rule refuses.
type Test int

// The tests.
const (
	Equal Test = iota // the argument is the value
	Other             // the argument is not the value
	Any               // it has one of the bits of the value
	None              // it has none of them
)

// Offsets in struct seccomp_data, and constants of filters (linux/seccomp.h, linux/filter.h).
const (
	atNumber, atArch, atFirst = 0, 4, 16 // the first argument's lower half
	eachArgument              = 8

	load    = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
	equal   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
	atLeast = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
	anyBit  = unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K
	end     = unix.BPF_RET | unix.BPF_K

	refuse = unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	absent = unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)
	x32    = 0x40000000 // where another table of calls begins on x86-64
)

// architecture is this program's architecture in filters, 0 for an unsupported one.
func architecture() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// Available reports whether this kernel can filter the calls of programs of this architecture.
func Available() bool {
	if architecture() == 0 {
		return false
	}
	action := refuse &^ 0xffff
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// instructions are the program of a filter. Calls of other architectures, whose numbers mean something else, are refused.
func (f *Filter) instructions() []unix.SockFilter {
	list := []unix.SockFilter{
		{Code: load, K: atArch},
		{Code: equal, K: architecture(), Jt: 1},
		{Code: end, K: refuse},
		{Code: load, K: atNumber},
		{Code: atLeast, K: x32, Jf: 1},
		{Code: end, K: refuse},
	}
	for _, number := range f.Absent {
		list = append(list, unix.SockFilter{Code: equal, K: number, Jf: 1}, unix.SockFilter{Code: end, K: absent})
	}
	for _, number := range f.Denied {
		list = append(list, unix.SockFilter{Code: equal, K: number, Jf: 1}, unix.SockFilter{Code: end, K: refuse})
	}
	for _, r := range f.Rules {
		test := unix.SockFilter{Code: equal, K: r.Value}
		if r.Test == Any || r.Test == None {
			test.Code = anyBit
		}
		if r.Test == Equal || r.Test == Any {
			test.Jf = 1
		} else {
			test.Jt = 1
		}
		list = append(list,
			unix.SockFilter{Code: equal, K: r.Call, Jf: 4}, unix.SockFilter{Code: load, K: atFirst + eachArgument*r.Argument},
			test, unix.SockFilter{Code: end, K: refuse}, unix.SockFilter{Code: load, K: atNumber})
	}
	return append(list, unix.SockFilter{Code: end, K: unix.SECCOMP_RET_ALLOW})
}

// Thread applies the filter to the calling thread, and to what it executes. First lock the goroutine to it, and set
// no_new_privs.
func (f *Filter) Thread() error { return f.install(0) }

// Process applies the filter to all threads. First set no_new_privs.
func (f *Filter) Process() error { return f.install(unix.SECCOMP_FILTER_FLAG_TSYNC) }

func (f *Filter) install(flags uintptr) error {
	list := f.instructions()
	program := unix.SockFprog{Len: uint16(len(list)), Filter: &list[0]}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(list)
	if errno != 0 {
		return fmt.Errorf("filter system calls: %w", errno)
	}
	return nil
}
