package peers

import (
	"fmt"
	"io"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// SerialLine makes a serial line without hardware: two pseudo terminals joined back to back.
// What one program writes to the device a the other reads from the device b. The line ends with
// the test, or when cut is called: both devices then report an error.
func SerialLine(t testing.TB) (a, b string, cut func()) {
	t.Helper()
	masterA, a := openPty(t)
	masterB, b := openPty(t)
	var copiers sync.WaitGroup
	copiers.Go(func() { _, _ = io.Copy(masterA, masterB) })
	copiers.Go(func() { _, _ = io.Copy(masterB, masterA) })
	cut = sync.OnceFunc(func() {
		_ = masterA.Close()
		_ = masterB.Close()
		copiers.Wait()
	})
	t.Cleanup(cut)
	return a, b, cut
}

// openPty opens one pseudo terminal and returns its master and the name of its device. The
// device stays open until the test ends, or the master would fail whenever nobody has it open.
func openPty(t testing.TB) (master *os.File, device string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("open a pseudo terminal: %v", err)
	}
	number, err := unlock(master)
	if err != nil {
		t.Fatalf("unlock the pseudo terminal: %v", err)
	}
	device = fmt.Sprintf("/dev/pts/%d", number)
	keeper, err := os.OpenFile(device, os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatalf("open the device of the pseudo terminal: %v", err)
	}
	t.Cleanup(func() { _ = keeper.Close() })
	if err := control(keeper, makeRaw); err != nil {
		t.Fatalf("make the pseudo terminal raw: %v", err)
	}
	return master, device
}

func unlock(master *os.File) (number int, err error) {
	err = control(master, func(fd int) error {
		if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
			return err
		}
		number, err = unix.IoctlGetInt(fd, unix.TIOCGPTN)
		return err
	})
	return number, err
}

// makeRaw switches off echo, line editing and translation.
func makeRaw(fd int) error {
	state, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return err
	}
	state.Iflag, state.Oflag, state.Lflag = 0, 0, 0
	state.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B19200
	state.Cc[unix.VMIN], state.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(fd, unix.TCSETS, state)
}

// control runs f with the file's descriptor, which stays with the runtime's poller.
func control(file *os.File, f func(fd int) error) error {
	raw, err := file.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := raw.Control(func(fd uintptr) { inner = f(int(fd)) }); err != nil {
		return err
	}
	return inner
}
