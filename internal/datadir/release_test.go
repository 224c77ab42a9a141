package datadir

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestAReleasedDirectoryIsFreeWhileAnotherProcessStillHasTheFile(t *testing.T) {
	dir := t.TempDir()
	claim, err := Take(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(claim.file.Fd())) // as between fork and exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(inherited)
	if err := claim.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Take(dir)
	if err != nil {
		t.Fatalf("it is claimed still: %v", err)
	}
	if err := again.Release(); err != nil {
		t.Error(err)
	}
}
