package dnp3

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"voltbus/internal/host"
)

// openSerial opens a serial port, or a pseudo terminal, in raw mode. The runtime polls the file, so closing
// it ends a read.
func openSerial(set serialSettings) (io.ReadWriteCloser, error) {
	if err := host.SerialPort(set.device); err != nil {
		return nil, fmt.Errorf("open serial port %s: %w", set.device, err)
	}
	file, err := os.OpenFile(set.device, os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("open serial port: %w", err)
	}
	if err := setUp(file, set); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("set up serial port %s: %w; check that it is one and its speed", set.device, err)
	}
	return file, nil
}

func setUp(file *os.File, set serialSettings) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	err = raw.Control(func(fd uintptr) {
		var state *unix.Termios
		if state, inner = unix.IoctlGetTermios(int(fd), unix.TCGETS2); inner != nil {
			return
		}
		set.apply(state)
		inner = unix.IoctlSetTermios(int(fd), unix.TCSETS2, state)
	})
	if err != nil {
		return err
	}
	return inner
}

// apply sets the terminal state to raw mode with the settings.
func (set *serialSettings) apply(state *unix.Termios) {
	state.Iflag, state.Oflag, state.Lflag = 0, 0, 0
	state.Cflag = unix.CREAD | unix.CLOCAL | unix.BOTHER
	state.Ispeed, state.Ospeed = uint32(set.baudrate), uint32(set.baudrate)
	if set.databits == 7 {
		state.Cflag |= unix.CS7
	} else {
		state.Cflag |= unix.CS8
	}
	switch set.parity {
	case "even":
		state.Cflag |= unix.PARENB
	case "odd":
		state.Cflag |= unix.PARENB | unix.PARODD
	}
	if set.stopbits == 2 {
		state.Cflag |= unix.CSTOPB
	}
	state.Cc[unix.VMIN], state.Cc[unix.VTIME] = 1, 0
}
