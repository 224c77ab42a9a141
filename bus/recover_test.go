package bus_test

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"voltbus/bus/blocklog"
	"voltbus/fault"
)

// The engine stops by itself after a write that the disk refused. Nobody writes, and who reads finds it running.
func TestALogWhoseEngineStoppedRunsAgainForWhoReads(t *testing.T) {
	f := open(t, t.TempDir(), "")
	l := openLog(t, f, 1<<20)
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	if err := f.StopEngine(); err != nil {
		t.Fatal(err)
	}
	if err := appendOne(t, l, "b", 1); err == nil {
		t.Fatal("an engine that does not run takes a block")
	} else if text := err.Error(); strings.Contains(strings.ToLower(text), "jetstream") || strings.Contains(text, "nats:") || !strings.Contains(text, "the log's engine has stopped") {
		t.Errorf("the error says %q", text)
	}
	data, last, err := l.Last(t.Context())
	if err != nil || string(data) != "a" || last != 1 {
		t.Errorf("the log has %q at %d, %v", data, last, err)
	}
	if err := appendOne(t, l, "b", 1); err != nil {
		t.Errorf("what follows: %v", err)
	}
}

// readOnly lays a file system that nobody may write over a directory, as one that was remounted after an I/O error,
// until the returned function is called.
func readOnly(t *testing.T, dir string) (writable func()) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_RDONLY, "size=1m"); err != nil {
		t.Skipf("needs the right to mount a file system: %v", err)
	}
	mounted := true
	writable = func() {
		if mounted {
			mounted = false
			if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(writable)
	return writable
}

func TestALogWhoseDiskWasReadOnlyRunsAgainWithoutARestart(t *testing.T) {
	dir := t.TempDir()
	f := open(t, dir, "")
	l := openLog(t, f, 1<<20)
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	writable := readOnly(t, dir)
	if err := f.StopEngine(); err != nil {
		t.Fatal(err)
	}
	_, err := l.State(t.Context())
	if !fault.Is(err, fault.Unavailable) || strings.Contains(strings.ToLower(err.Error()), "jetstream not") || !strings.Contains(err.Error(), "it starts by itself when the disk takes writes again") {
		t.Errorf("while it is read-only: %v", err)
	}
	if err := l.Recover(t.Context()); !fault.Is(err, fault.Unavailable) {
		t.Errorf("it recovers on a disk that refuses writes: %v", err)
	}
	writable()
	var state blocklog.State
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		if state, err = l.State(t.Context()); err == nil {
			break
		}
	}
	if err != nil || state.Last != 1 {
		t.Fatalf("the disk is back: %+v, %v", state, err)
	}
	if err := appendOne(t, l, "b", 1); err != nil {
		t.Error(err)
	}
}

func TestWhoAsksTheLogWhileItRecoversWaits(t *testing.T) {
	f := open(t, t.TempDir(), "")
	l := openLog(t, f, 1<<20)
	if err := appendOne(t, l, "a", 0); err != nil {
		t.Fatal(err)
	}
	id := l.ID()
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for n := 0; ; n++ {
			data, last, err := l.Last(t.Context())
			if err != nil || string(data) != "a" || last != 1 {
				t.Errorf("after %d answers: %q, %d, %v", n, data, last, err)
			}
			if _, err := l.Written(t.Context(), 1); err != nil || l.ID() != id {
				t.Errorf("the first block of %s: %v", l.ID(), err)
			}
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	for range 20 {
		if err := l.Recover(t.Context()); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	<-done
}
