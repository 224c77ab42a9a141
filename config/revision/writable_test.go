package revision_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"voltbus/fault"
)

const nobody = 65534

// asNobody calls what as a user who has no rights here.
func asNobody(what func() error) error {
	done := make(chan error)
	go func() {
		if os.Getuid() == 0 {
			runtime.LockOSThread() // the thread ends with the goroutine
			if _, err := unix.SetfsgidRetGid(nobody); err != nil {
				done <- err
				return
			}
			if _, err := unix.SetfsuidRetUid(nobody); err != nil {
				done <- err
				return
			}
		}
		done <- what()
	}()
	return <-done
}

func TestWhoMayNotWriteToTheFolderIsToldBeforeAnythingHappens(t *testing.T) {
	s := newSite(t, "a")
	folder := filepath.Dir(s.name)
	if err := os.Chmod(filepath.Dir(folder), 0o755); err != nil { //nolint:gosec // nobody comes through it
		t.Fatal(err)
	}
	for _, tt := range []struct {
		mode os.FileMode
		may  bool
	}{{0o777, true}, {0o555, false}} {
		if err := os.Chmod(folder, tt.mode); err != nil { //nolint:gosec // its modes are what is tried
			t.Fatal(err)
		}
		err := asNobody(s.Writable)
		if tt.may != (err == nil) || (err != nil && (!fault.Is(err, fault.Refused) || !strings.Contains(err.Error(), folder) || !strings.Contains(err.Error(), "chgrp"))) {
			t.Errorf("mode %o: %v", tt.mode, err)
		}
	}
	if err := os.Chmod(folder, 0o700); err != nil { //nolint:gosec // as it was
		t.Fatal(err)
	}
	if list, err := os.ReadDir(folder); err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}
