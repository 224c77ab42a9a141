package folder_test

import (
	"errors"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"voltbus/internal/folder"
)

// To open some devices does something already, and who waits at the other end of a pipe goes on.
func TestAttackAPipeIsNotEvenOpened(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := folder.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(watch) })
	if _, err := unix.InotifyAddWatch(watch, pipe, unix.IN_OPEN); err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(string, int64) ([]byte, error){"in a folder": f.ReadFile, "anywhere": folder.Any(dir).ReadFile} {
		if text, err := read("pipe", 100); !errors.Is(err, folder.ErrSpecial) {
			t.Errorf("%s a pipe is %q, %v; want %v", name, text, err, folder.ErrSpecial)
		}
		if n, err := unix.Read(watch, make([]byte, 4096)); !errors.Is(err, unix.EAGAIN) {
			t.Errorf("%s a pipe was opened: %d bytes of events, %v", name, n, err)
		}
	}
}
