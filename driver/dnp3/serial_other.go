//go:build !linux

package dnp3

import (
	"errors"
	"io"
)

// openSerial is not supported on this platform.
func openSerial(serialSettings) (io.ReadWriteCloser, error) {
	return nil, errors.New("serial lines are supported on Linux only; use a serial device server and transport tcp")
}
