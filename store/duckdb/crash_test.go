package duckdb_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
	"voltbus/store/duckdb"
)

// childDir names the directory for the child process of TestAcknowledgedSamplesSurviveAKill.
const childDir = "VOLTBUS_TEST_STORE_DIR"

// perBlock is how many samples the child stores at once.
const perBlock = 5000

// TestChild is not a test of its own: it appends, closes days and reports until it is killed.
func TestChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs only as the child of TestAcknowledgedSamplesSurviveAKill")
	}
	s := open(t, duckdb.Options{Dir: dir})
	positions, err := s.Positions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for n := positions["a"].Sequence + 1; ; n++ {
		start := noon().Add(time.Duration(n) * perBlock * time.Second)
		appendBlocks(t, s, block(n, start, perBlock))
		fmt.Fprintf(os.Stdout, "stored %d\n", n)
		if n%5 == 0 {
			maintain(t, s, start)
		}
	}
}

func TestAcknowledgedSamplesSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	acknowledged := uint64(0)
	for round := range 4 {
		acknowledged = killAfter(t, dir, acknowledged+10+3*uint64(round))
		s := open(t, duckdb.Options{Dir: dir})
		positions, err := s.Positions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		last := positions["a"].Sequence
		if last < acknowledged {
			t.Errorf("block %d was acknowledged, block %d is the last one stored", acknowledged, last)
		}
		if got := stats(t, s); got.Samples != last*perBlock || len(got.Damaged) > 0 {
			t.Errorf("%d samples are stored, want %d; damaged: %v", got.Samples, last*perBlock, got.Damaged)
		}
		wantEachOnce(t, s, last)
		newest, err := s.Latest(t.Context(), []point.Path{"p"})
		if want := noon().Add(time.Duration((last+1)*perBlock-1) * time.Second); err != nil || !newest[0].Time.Equal(want) {
			t.Errorf("the newest sample is %v, %v, want one of %v", newest, err, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// wantEachOnce checks that the samples of blocks 1 to last are there, each once.
func wantEachOnce(t *testing.T, s store.Store, last uint64) {
	t.Helper()
	next := noon().Add(perBlock * time.Second)
	n := uint64(0)
	r := store.Range{Points: []point.Path{"p"}, From: noon(), To: noon().AddDate(5, 0, 0)}
	err := s.Read(t.Context(), r, func(run []point.Sample) error {
		for i := range run {
			if !run[i].Time.Equal(next) {
				return fmt.Errorf("sample %d has the time %v, want %v", n, run[i].Time, next)
			}
			next = next.Add(time.Second)
			n++
		}
		return nil
	})
	if err != nil || n != last*perBlock {
		t.Errorf("%d samples were read, want %d; error %v", n, last*perBlock, err)
	}
}

// killAfter starts a child on the directory, kills it when it has stored the block, and returns
// the last block that it reported.
func killAfter(t *testing.T, dir string, enough uint64) uint64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	last := uint64(0)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "stored ")
		if !ok {
			t.Errorf("the child said %q", lines.Text())
			continue
		}
		if last, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Error(err)
		}
		if last == enough {
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) {
		t.Errorf("the child ended with %v, want a kill", err)
	}
	if last < enough {
		t.Fatalf("the child ended at block %d, before %d", last, enough)
	}
	return last
}

func TestASecondStoreOnTheDirectoryIsAConflict(t *testing.T) {
	dir := t.TempDir()
	s := open(t, duckdb.Options{Dir: dir})
	_, err := duckdb.Open(t.Context(), duckdb.Options{Dir: dir})
	if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("error is %v (%v), want a conflict that names the process", err, fault.KindOf(err))
	}
	appendBlocks(t, s, block(1, noon(), 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, duckdb.Options{Dir: dir})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestADirectoryThatCannotBeUsedIsInvalid(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"", file, filepath.Join(file, "below")} {
		if _, err := duckdb.Open(t.Context(), duckdb.Options{Dir: dir}); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: error is %v (%v), want invalid", dir, err, fault.KindOf(err))
		}
	}
}

func TestAFullDiskStoresNothingAndRecovers(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=24m"); err != nil {
		t.Skipf("NOT TESTED: a full disk needs the right to mount a tmpfs: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount: %v", err)
		}
	}()
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, duckdb.Options{Dir: dir})
	defer s.Close()
	n := uint64(1)
	var full error
	for ; full == nil; n++ {
		_, full = s.Append(t.Context(), []*point.Block{noise(n)})
		if n > 1000 {
			t.Fatal("the disk never became full")
		}
	}
	if !fault.Is(full, fault.Unavailable) || !strings.Contains(full.Error(), "disk is full") {
		t.Errorf("error is %v (%v), want unavailable for a full disk", full, fault.KindOf(full))
	}
	last := n - 2
	if got := stats(t, s).Samples; got != last*noiseSamples {
		t.Errorf("%d samples are stored, want %d", got, last*noiseSamples)
	}
	wantNoise(t, s, last)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), []*point.Block{noise(last + 1)}); err != nil {
		t.Fatalf("append when there is room again: %v", err)
	}
	wantNoise(t, s, last+1)
}
