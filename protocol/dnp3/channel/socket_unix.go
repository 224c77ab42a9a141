//go:build unix

package channel

import "syscall"

// readSocket reads what is there without waiting.
func readSocket(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }
