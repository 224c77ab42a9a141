package datadir_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"voltbus/internal/datadir"
)

// The test binary is also the other process: with this variable set it claims the directory,
// says so, and ends when its input is closed.
const claimEnv = "DATADIR_TEST_CLAIM"

func TestMain(m *testing.M) {
	dir := os.Getenv(claimEnv)
	if dir == "" {
		os.Exit(m.Run())
	}
	claim, err := datadir.Take(dir)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("claimed")
	_, _ = io.Copy(io.Discard, os.Stdin)
	_ = claim.Release()
}

func TestASecondProcessIsRefusedUntilTheFirstEnds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "data")
	child := exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), claimEnv+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "claimed\n" {
		t.Fatalf("the other process says %q, %v", line, err)
	}
	if !datadir.InUse(dir) {
		t.Error("the directory does not seem to be in use")
	}
	_, err = datadir.Take(dir)
	if !errors.Is(err, datadir.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint("process ", child.Process.Pid)) {
		t.Errorf("the second claim: %v, want in use by process %d", err, child.Process.Pid)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	if datadir.InUse(dir) {
		t.Error("the directory still seems to be in use")
	}
	claim, err := datadir.Take(dir)
	if err != nil {
		t.Fatalf("after the first ended: %v", err)
	}
	if err := claim.Release(); err != nil {
		t.Error(err)
	}
}

func TestTakeSaysWhyADirectoryCannotBeWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.Take(filepath.Join(file, "data")); err == nil || !strings.Contains(err.Error(), "data directory") {
		t.Errorf("error is %v", err)
	}
}

func TestRoomComplainsOnlyWhenTheDiskIsTooFull(t *testing.T) {
	dir := t.TempDir()
	if err := datadir.NewFreeSpace(dir, 1).Check(); err != nil {
		t.Errorf("with one byte wanted: %v", err)
	}
	if err := datadir.NewFreeSpace(dir, 1<<62).Check(); err == nil || !strings.Contains(err.Error(), "make room") {
		t.Errorf("with more wanted than any disk has: %v", err)
	}
	if err := datadir.NewFreeSpace(filepath.Join(dir, "absent"), 1).Check(); err == nil {
		t.Error("a directory that is not there has room")
	}
}
