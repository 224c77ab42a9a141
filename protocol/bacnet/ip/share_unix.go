//go:build unix

package ip

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// share lets several programs of the machine hear broadcasts at the same address. Some of them
// share it by one option, some by the other.
func share(_, _ string, c syscall.RawConn) error {
	var failed error
	err := c.Control(func(fd uintptr) {
		for _, option := range []int{unix.SO_REUSEADDR, unix.SO_REUSEPORT} {
			if err := unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, option, 1); err != nil {
				failed = err
			}
		}
	})
	if err != nil {
		return err
	}
	return failed
}
