package bus_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"voltbus/bus/blocklog"
	"voltbus/fault"
)

func openLog(t *testing.T, f *fixture, maxBytes int64) *blocklog.Log {
	t.Helper()
	l, err := f.OpenLog(t.Context(), blocklog.Config{MaxBytes: maxBytes})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func appendOne(t *testing.T, l *blocklog.Log, data string, after uint64) error {
	t.Helper()
	wait, err := l.Append([]byte(data), after)
	if err != nil {
		return err
	}
	return wait(t.Context())
}

var errEnough = errors.New("enough")

// readAll returns what the log holds from a sequence on, up to its last block.
func readAll(t *testing.T, l *blocklog.Log, from uint64) (sequences []uint64, blocks []string) {
	t.Helper()
	_, last, err := l.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if last < from {
		return nil, nil
	}
	err = l.Read(t.Context(), from, func(sequence uint64, data []byte) error {
		sequences, blocks = append(sequences, sequence), append(blocks, string(data))
		if sequence >= last {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) {
		t.Fatalf("read the log: %v", err)
	}
	return sequences, blocks
}

func TestTheLogKeepsBlocksInOrderOverARestart(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, "")
	l := openLog(t, f, 1<<20)
	for i := range 5 {
		if err := appendOne(t, l, fmt.Sprint("block", i+1), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	id := l.ID()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	l = openLog(t, open(t, dir, ""), 1<<20)
	if l.ID() != id {
		t.Errorf("the log's identity changes from %s to %s", id, l.ID())
	}
	if _, blocks := readAll(t, l, 3); fmt.Sprint(blocks) != "[block3 block4 block5]" {
		t.Errorf("from 3 on: %v", blocks)
	}
	if data, sequence, err := l.Last(t.Context()); err != nil || sequence != 5 || string(data) != "block5" {
		t.Errorf("last is %d %q, %v", sequence, data, err)
	}
}

func TestAScanEndsBehindTheLastBlock(t *testing.T) {
	l := openLog(t, open(t, t.TempDir(), ""), 64<<10)
	scan := func(from uint64) (blocks []string) {
		t.Helper()
		err := l.Scan(t.Context(), from, func(sequence uint64, data []byte) error {
			blocks = append(blocks, fmt.Sprint(sequence, " ", string(data[:min(len(data), 3)])))
			return nil
		})
		if err != nil {
			t.Fatalf("scan from %d: %v", from, err)
		}
		return blocks
	}
	for _, from := range []uint64{0, 1, 9} {
		if got := scan(from); len(got) != 0 {
			t.Errorf("an empty log has %v", got)
		}
	}
	for i := range 200 { // more than one portion
		if err := appendOne(t, l, fmt.Sprint(i), uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := scan(1); len(got) != 200 || got[0] != "1 0" || got[199] != "200 199" {
		t.Errorf("from 1 on: %v", got)
	}
	if got := scan(200); fmt.Sprint(got) != "[200 199]" {
		t.Errorf("from 200 on: %v", got)
	}
	if got := scan(201); len(got) != 0 {
		t.Errorf("behind the end: %v", got)
	}
	for i := range 30 {
		if err := appendOne(t, l, "big"+string(make([]byte, 4<<10)), uint64(200+i)); err != nil {
			t.Fatal(err)
		}
	}
	if got := scan(1); len(got) > 20 || got[len(got)-1] != "230 big" {
		t.Errorf("of a log that dropped its oldest: %v", got)
	}
	stop := errors.New("enough")
	if err := l.Scan(t.Context(), 1, func(uint64, []byte) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("an error of deliver gives %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Scan(ended, 1, func(uint64, []byte) error { return nil }); err == nil {
		t.Error("an ended context looks like the end of the log")
	}
}

func TestABlockBehindTheWrongOneIsRefused(t *testing.T) {
	l := openLog(t, open(t, t.TempDir(), ""), 1<<20)
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := appendOne(t, l, "c", 2); !fault.Is(err, fault.Unavailable) {
		t.Errorf("a block behind one that is not there: %v, want unavailable", err)
	}
	if err := appendOne(t, l, "b", 1); err != nil {
		t.Errorf("the right one after it: %v", err)
	}
}

func TestAtItsBoundTheLogDropsTheOldestAndShowsIt(t *testing.T) {
	l := openLog(t, open(t, t.TempDir(), ""), 64<<10)
	payload := string(make([]byte, 4<<10))
	for i := range 40 {
		if err := appendOne(t, l, payload, uint64(i)); err != nil {
			t.Fatal(err)
		}
	}
	state, err := l.State(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if state.First <= 1 || state.Last != 40 || state.Bytes > 64<<10 {
		t.Errorf("state is %+v, want the first dropped, the last 40, within 64 KiB", state)
	}
	if sequences, _ := readAll(t, l, 1); sequences[0] != state.First {
		t.Errorf("a reader from 1 on begins at %d, want %d", sequences[0], state.First)
	}
}

func TestAFullDiskFailsBlocksAndTheLogRecoversWhenThereIsRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m"); err != nil {
		t.Skipf("needs the right to mount a small file system: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	f := open(t, dir, "")
	l := openLog(t, f, 1<<30)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	payload := string(make([]byte, 256<<10))
	n := uint64(0)
	for ; n < 100; n++ {
		if err := appendOne(t, l, payload, n); err != nil {
			break
		}
	}
	if n == 0 || n == 100 {
		t.Fatalf("%d blocks were accepted on a disk of 8 MiB", n)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	if err := l.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, last, err := l.Last(t.Context())
	if err != nil || last < n {
		t.Fatalf("after recovery the last is %d, %v; %d were acknowledged", last, err, n)
	}
	if err := appendOne(t, l, payload, last); err != nil {
		t.Errorf("with room again: %v", err)
	}
	if sequences, _ := readAll(t, l, 1); uint64(len(sequences)) != last+1 {
		t.Errorf("the log holds %d blocks, want %d", len(sequences), last+1)
	}
}

func TestAReaderGoesOnAfterTheLogRecovered(t *testing.T) {
	f := open(t, t.TempDir(), "")
	l := openLog(t, f, 1<<20)
	got := make(chan string, 10)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- l.Read(ctx, 1, func(_ uint64, data []byte) error { got <- string(data); return nil })
	}()
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "a" {
		t.Fatalf("read %q", s)
	}
	if err := l.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := appendOne(t, l, "b", 1); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-got:
		if s != "b" {
			t.Errorf("read %q", s)
		}
	case err := <-done: // ending with an error is fine too: whoever reads opens again
		if err == nil {
			t.Error("the reader ends without a reason")
		}
		done <- nil
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
