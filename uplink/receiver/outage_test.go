package receiver_test

import (
	"context"
	"errors"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink"
	"voltbus/uplink/receiver"
)

const plantOrigin = "plant~1"

func greet(t *testing.T, r *receiver.Receiver, there uplink.Position) {
	t.Helper()
	h := uplink.Hello{Protocol: uplink.Protocol, Origins: map[string]uplink.Position{plantOrigin: there}}
	_, err := r.Hello("plant", &h)
	for fault.Is(err, fault.Unavailable) { // before Run
		runtime.Gosched()
		_, err = r.Hello("plant", &h)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func plantBlock(sequence, before, left uint64) *point.Block {
	return &point.Block{Origin: plantOrigin, First: sequence, Sequence: sequence, Before: before, Left: left, Points: []point.Path{"plant/temp"}}
}

func TestWhatWaitedInAnOutageIsCountedByTheNumbersOfBothEnds(t *testing.T) {
	r := parent(t, receiver.Config{})
	r.Gone("plant", time.Time{})
	if got := r.Outages("plant"); len(got) != 0 {
		t.Errorf("of one that never was here: %+v", got)
	}
	greet(t, r, uplink.Position{})
	sendBlock(t, r, plantBlock(1, 0, 0))
	heard := time.Now()
	r.Gone("plant", heard)
	r.Gone("plant", heard.Add(time.Hour))
	if got := r.Outages("plant"); len(got) != 1 || !got[0].From.Equal(heard) || !got[0].To.IsZero() {
		t.Errorf("while it is away: %+v", got)
	}
	greet(t, r, uplink.Position{Sequence: 4, Samples: 9})
	if got := r.Outages("plant")[0]; got.To.IsZero() || got.Waited != 8 || got.Coming != 8 || !got.Done.IsZero() {
		t.Errorf("when it is back: %+v", got)
	}
	sendBlock(t, r, plantBlock(2, 1, 2)) // with two that were left out
	if got := r.Outages("plant")[0]; got.Coming != 5 || got.Left != 2 || !got.Done.IsZero() {
		t.Errorf("on the way: %+v", got)
	}
	sendBlock(t, r, plantBlock(4, 8, 0)) // the third was dropped there, with four samples
	if got := r.Outages("plant")[0]; got.Waited != 8 || got.Coming != 0 || got.Missing != 4 || got.Left != 2 || got.Done.IsZero() {
		t.Errorf("at the end: %+v", got)
	}
	sendBlock(t, r, plantBlock(6, 20, 0)) // what is lost later belongs to no outage that is over
	if got := r.Outages("plant"); len(got) != 1 || got[0].Missing != 4 {
		t.Errorf("later: %+v", got)
	}
}

func TestOutagesAreRememberedAndBounded(t *testing.T) {
	dir := t.TempDir()
	cfg := receiver.Config{
		Name: "campus", Own: func(string) bool { return false }, File: filepath.Join(dir, "origins.json"), Outages: new(notebook),
		Child: func(name string) (receiver.Child, bool) {
			return receiver.Child{Grants: identity.Grants{Record: []point.Pattern{"plant/**"}}}, name == "plant"
		},
	}
	begin := func() (*receiver.Receiver, func()) {
		r := receiver.New(cfg, ready{}, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }()
		return r, func() {
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
	r, end := begin()
	greet(t, r, uplink.Position{})
	sendBlock(t, r, plantBlock(1, 0, 0))
	for range 30 {
		r.Gone("plant", time.Time{})
		greet(t, r, uplink.Position{Sequence: 1, Samples: 1})
	}
	if got := r.Outages("plant"); len(got) != 20 || got[0].Waited != 0 || got[0].Done.IsZero() {
		t.Errorf("%d outages, the newest %+v", len(got), got[0])
	}
	end()
	stopped := time.Now()
	r, end = begin()
	defer func() { end() }()
	r.Gone("plant", time.Time{})
	got := r.Outages("plant")
	if len(got) != 21 || got[0].From.Before(stopped) || got[0].Unknown.IsZero() || got[0].Unknown.After(stopped) {
		t.Errorf("after a restart there are %d, the newest %+v; nobody knows what was while this node did not run", len(got), got[0])
	}
	end()
	r, end = begin()
	r.Gone("plant", time.Time{})
	if again := r.Outages("plant"); len(again) != 21 || !again[0].From.Equal(got[0].From) || !again[0].Unknown.Equal(got[0].Unknown) {
		t.Errorf("one that lasts over a second restart is %+v, want %+v", again[0], got[0])
	}
	greet(t, r, uplink.Position{Sequence: 1, Samples: 1})
	if again := r.Outages("plant"); len(again) != 20 || again[0].To.IsZero() || again[0].Unknown.IsZero() {
		t.Errorf("when it is back: %d, %+v", len(again), again[0])
	}
}

// notebook keeps outages in memory, once its disk takes them.
type notebook struct {
	mu   sync.Mutex
	text []byte
	full bool
}

func (n *notebook) Outages() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text
}

func (n *notebook) WriteOutages(text []byte) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.full {
		return errors.New("no space left on device")
	}
	n.text = text
	return nil
}

func (n *notebook) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.full = false
}

func TestOutagesThatTheDiskDidNotTakeAreWrittenDownLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &notebook{full: true}
		cfg := receiver.Config{Outages: disk}
		r, recorder := nest(t, cfg)
		close(recorder.disk)
		greet(t, r, uplink.Position{})
		r.Gone("plant", time.Time{})
		greet(t, r, uplink.Position{})
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		disk.clear()
		time.Sleep(time.Minute) //nolint:forbidigo // virtual
		again := receiver.New(cfg, ready{}, nil)
		if got := again.Outages("plant"); len(got) != 1 {
			t.Errorf("after a minute with room on the disk there are %d outages kept, want 1", len(got))
		}
	})
}
