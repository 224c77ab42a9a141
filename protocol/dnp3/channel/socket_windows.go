package channel

import "syscall"

// readSocket reads what is there without waiting.
func readSocket(fd uintptr, p []byte) (int, error) { return syscall.Read(syscall.Handle(fd), p) }
