package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

var errNoTerminal = errors.New("is not a serial port; write one such as /dev/ttyUSB0")

// SerialPort returns nil if the name denotes a serial port or a pseudo terminal. Merely opening other devices
// may have an effect, such as a watchdog resetting the machine, so names from untrusted sources are checked
// first.
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
