// Package fulldisk gives tests a small disk, and fills it. Suites share it.
package fulldisk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Mount returns a disk in memory of a size such as "8m", which every user may enter. Without the right to mount one the test is skipped.
func Mount(t testing.TB, size string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "vb-disk-") //nolint:usetesting // short, and another user must reach it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("NOT TESTED: a full disk needs the right to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Fill takes all the room of a disk, and returns the file that does.
func Fill(t testing.TB, dir string) string {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for piece := make([]byte, 4<<10); err == nil; {
		_, err = f.Write(piece)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return name
}
