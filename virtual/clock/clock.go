//go:build linux

// Package clock holds the time of a program that is built with the simulated time of Go's runtime (the tag faketime). There, time passes only when
// nothing runs, and then at once to the next timer. A goroutine in a system call counts as running: while one waits in Hold.Read, all others
// go on, sockets included, and time stands still. What waits for a timer waits until the reader comes back.
package clock

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// Advance lets time pass until a moment.
func Advance(to time.Time) { time.Sleep(time.Until(to)) } //nolint:forbidigo // time itself is what is waited for

// Hold reads from a file while time stands still. It is used by one goroutine.
type Hold struct {
	file  int
	poll  int // the descriptor by which the runtime learns what sockets have
	wake  int // the one by which it wakes a thread that waits for them
	turn  *os.File
	echo  *os.File
	ended chan error // one message for each byte that came back
}

// NewHold returns a reader of a descriptor that no os.File has. Close ends it.
func NewHold(file int) (*Hold, error) {
	echo, turn, err := os.Pipe() // the first use of the runtime's poller, if there was none
	if err != nil {
		return nil, err
	}
	h := &Hold{file: file, turn: turn, echo: echo, ended: make(chan error)}
	for of, to := range map[string]*int{"eventpoll": &h.poll, "eventfd": &h.wake} {
		if *to, err = descriptor("anon_inode:[" + of + "]"); err != nil {
			return nil, errors.Join(err, turn.Close(), echo.Close())
		}
	}
	go h.answer()
	return h, nil
}

// descriptor finds one of the runtime's poller.
func descriptor(of string) (int, error) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, fmt.Errorf("find the descriptors of this process: %w; mount /proc", err)
	}
	for _, e := range entries {
		if what, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil && what == of {
			return strconv.Atoi(e.Name())
		}
	}
	return 0, fmt.Errorf("this process has no descriptor %s, by which Go's runtime waits for sockets", of)
}

// answer returns each byte of the pipe. It waits in the runtime's poller, so it wakes with whatever else has something.
func (h *Hold) answer() {
	var b [1]byte
	for {
		_, err := h.echo.Read(b[:])
		h.ended <- err
		if err != nil {
			return
		}
	}
}

// Close ends the reader. It does not close the file.
func (h *Hold) Close() error {
	err := h.turn.Close()
	<-h.ended //nolint:errcheck // it says that the pipe was closed
	return errors.Join(err, h.echo.Close())
}

// pollFD is the structure that ppoll takes.
type pollFD struct {
	fd      int32
	events  int16
	revents int16
}

const pollIn = 1

// Read implements io.Reader. Time stands still until something has come.
func (h *Hold) Read(b []byte) (int, error) {
	for {
		fds := [2]pollFD{{fd: int32(h.file), events: pollIn}, {fd: int32(h.poll), events: pollIn}} //nolint:gosec // a descriptor is small
		_, _, errno := syscall.Syscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&fds[0])), uintptr(len(fds)), 0, 0, 0, 0)
		if errno != 0 && errno != syscall.EINTR {
			return 0, errno
		}
		if fds[1].revents != 0 {
			if err := h.serve(); err != nil {
				return 0, err
			}
		}
		if fds[0].revents == 0 {
			continue
		}
		n, err := syscall.Read(h.file, b)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// serve lets the runtime look at its sockets: with simulated time it does so only when a goroutine begins to wait, and nobody looks while this one is
// in a system call.
func (h *Hold) serve() error {
	// Only a poll that waits takes what woke it, and with simulated time none does.
	_, _ = syscall.Read(h.wake, make([]byte, 8)) // it does not block
	if _, err := h.turn.Write([]byte{0}); err != nil {
		return err
	}
	err := <-h.ended
	for range 4 { // those that woke first
		runtime.Gosched()
	}
	return err
}

// Output returns a writer to what a standard descriptor writes to: the runtime puts the simulated time before whatever goes to 1 and 2 themselves.
func Output(standard int) (*os.File, error) {
	fd, err := syscall.Dup(standard)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), "output"), nil //nolint:gosec // a descriptor is small
}
