package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var errNoTerminal = errors.New("is not a serial port; write one such as /dev/ttyUSB0")

// SerialPort returns nil if the name stands for a serial port or a pseudo terminal. Other devices may do
// something as soon as they are opened, such as a watchdog, which then resets the machine: a name that
// others chose is checked before.
func SerialPort(name string) error {
	target, err := filepath.EvalSymlinks(name)
	if err != nil {
		return &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	info, err := os.Stat(target)
	port := strings.HasPrefix(target, "/dev/tty") || strings.HasPrefix(target, "/dev/pts/") || strings.HasPrefix(target, "/dev/rfcomm")
	if err != nil || !port || info.Mode()&fs.ModeCharDevice == 0 {
		return errNoTerminal
	}
	return nil
}
