//go:build !unix

package ip

import "syscall"

// share does nothing: only Unix systems need it.
func share(_, _ string, _ syscall.RawConn) error { return nil }
