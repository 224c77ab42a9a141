// Package drivertest is the conformance suite that every driver passes: Run checks the contract of package driver against a real peer,
// over a connection that is made to fail. The peer is independent third-party software, or for a simulator the driver itself.
package drivertest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"voltbus/driver"
	"voltbus/fault"
	"voltbus/point"
)

// slack is what a busy machine may add to a time-out before a test considers it exceeded.
const slack = 10 * time.Second

// unknown is a point name that no device has.
const unknown = "no such point <\"'>"

// Harness connects a kind of driver to its peer. Config is required; features that a kind lacks stay empty,
// and their cases are skipped.
type Harness struct {
	Kind driver.Kind

	// Config returns a new, loaded configuration of the device at an address, with a request
	// time-out of Timeout. The address is the peer's or that of a proxy in front of it; it is
	// "" for a kind without a TCP line.
	Config func(t *testing.T, address string) driver.Config
	// Want are values on the device; the other points need only be good.
	Want map[string]point.Value
	// Bad are points that are declared but that the device does not have, with their quality.
	Bad map[string]point.Quality

	// Peer is the peer's TCP address: the cases with a failing line put a proxy in front of it.
	Peer string
	// Absent returns the configuration of a device whose line cannot be opened.
	Absent func(t *testing.T) driver.Config
	// Timeout is the request time-out that Config sets.
	Timeout time.Duration

	// Other returns the configuration of a second device on the same line.
	Other func(t *testing.T, address string) driver.Config
	// Silent returns the configuration of a device on the same line that never answers.
	Silent func(t *testing.T, address string) driver.Config

	// Reporting returns the configuration of a device that reports on its own, and Report makes it report a
	// value that differs from the last one.
	Reporting func(t *testing.T, address string) driver.Config
	Report    func(t *testing.T) (name string, value point.Value)

	// Writable is a point to write, and Value what to write; ReadOnly is a point that cannot be written.
	Writable string
	Value    point.Value
	ReadOnly string
	// TooMuch is a value that does not fit Writable.
	TooMuch point.Value
	// Prioritized is a writable point with a priority array in the device, other than Writable, not commanded otherwise,
	// and Priority a value for it; Unprioritized is a writable one without an array.
	Prioritized   string
	Priority      point.Value
	Unprioritized string
	// Denied is a point that is declared writable, but that the device refuses to write.
	Denied string

	// Beside says that other tests run at the same time, whose goroutines cannot be told from leaked ones.
	Beside bool
	// Together says that the cases with a proxy may run at the same time, after the others: the device then serves sessions with the
	// configurations of several addresses at once. It implies Beside.
	Together bool
}

// aside has a case that waits for time-outs run beside others, if the harness allows it.
func (h *Harness) aside(t *testing.T) {
	t.Helper()
	if h.Together {
		t.Parallel()
	}
}

// Run runs every case that the harness allows. Leaked goroutines fail a case, or with Beside the package's goleak.VerifyTestMain.
func Run(t *testing.T, h Harness) {
	t.Helper()
	for _, c := range []struct {
		name string
		ok   bool
		run  func(*testing.T, Harness)
	}{
		{"reads every point it declares", true, readsAll},
		{"answers in the order asked, also twice for one name", true, readsInOrder},
		{"gives bad(config) for an unknown name", true, unknownName},
		{"returns when the context is cancelled already", true, cancelledBefore},
		{"serves two sessions on one line", true, twoSessions},
		{"says ErrNotConnected after the line was closed", h.Peer != "", afterClose},
		{"says ErrNotConnected for an absent peer", h.Absent != nil, absentPeer},
		{"ends within the request time-out when the peer hangs", h.Peer != "", hangingPeer},
		{"returns when it is cancelled while it waits", h.Peer != "", cancelledMeanwhile},
		{"does not take a late answer for the next one", h.Peer != "", lateAnswer},
		{"says ErrNotConnected when the line is cut within an answer", h.Peer != "", cutWithin},
		{"says ErrNotConnected when the line is cut between requests", h.Peer != "", cutBetween},
		{"says ErrNotConnected when the peer closes half", h.Peer != "", halfClosed},
		{"survives garbage", h.Peer != "", garbage},
		{"reads the other device while one is silent", h.Silent != nil && h.Other != nil, silentNeighbour},
		{"says that there are reports, and gives each to every session once", h.Report != nil, reports},
		{"says that the line of a reporting device is lost", h.Report != nil && h.Peer != "", reportsLoss},
		{"writes and reads back", h.Writable != "", writes},
		{"refuses to write a read-only point", h.ReadOnly != "", refusesReadOnly},
		{"refuses to write an unknown point and a value that does not fit", h.Writable != "", refusesNonsense},
		{"says Rejected when the device does not take a write", h.Denied != "", rejectedWrite},
		{"writes many times, and reads back each time", h.Writable != "", writesManyTimes},
		{"commands and relinquishes at levels", h.Prioritized != "", commands},
		{"says the value of who commands at a more urgent level", h.Prioritized != "", commandsBelow},
		{"refuses to relinquish a point without a priority array", h.Unprioritized != "", refusesRelinquish},
		{"does not write when the context is cancelled already", h.Writable != "", writesCancelled},
		{"says Timeout when the line is cut within a write", h.Writable != "" && h.Peer != "", cutWithinWrite},
		{"does not write on a line that was closed", h.Writable != "", writesAfterClose},
		{"returns when it is cancelled while a write waits", h.Writable != "" && h.Peer != "", cancelledWrite},
	} {
		if !c.ok {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			noLeak := goleak.IgnoreCurrent()
			c.run(t, h)
			if h.Beside || h.Together {
				return
			}
			if err := leaks(noLeak); err != nil {
				t.Errorf("a goroutine is left after Close: %v", err)
			}
		})
	}
}

// leaks waits a few seconds for remaining goroutines: a peer in the same process may be slow to notice that
// the line was closed.
func leaks(but goleak.Option) (err error) {
	for range 8 {
		if err = goleak.Find(but); err == nil {
			return nil
		}
	}
	return err
}

// open opens a line and a device on it; the returned function closes both.
func open(t *testing.T, h Harness, cfg driver.Config) (driver.Line, driver.Session, func()) {
	t.Helper()
	line, err := h.Kind.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	session, err := line.Open(t.Context(), cfg)
	if err != nil {
		_ = line.Close()
		t.Fatalf("open: %v", err)
	}
	return line, session, func() {
		if err := session.Close(); err != nil {
			t.Errorf("close the session: %v", err)
		}
		if err := line.Close(); err != nil {
			t.Errorf("close the line: %v", err)
		}
	}
}

// rig is an open device behind a proxy.
type rig struct {
	proxy   *Proxy
	session driver.Session
	names   []string // points that the device has
	done    func()   // closes all
}

// throughProxy opens the device behind a proxy and reads it once, so that the line is established.
func throughProxy(t *testing.T, h Harness) rig {
	t.Helper()
	r := rig{proxy: NewProxy(t, h.Peer)}
	cfg := h.Config(t, r.proxy.Addr())
	_, session, done := open(t, h, cfg)
	r.session, r.names = session, goodNames(h, cfg)
	r.done = func() {
		done()
		r.proxy.Close()
	}
	mustRead(t, r.session, r.names)
	return r
}

func allNames(cfg driver.Config) []string {
	var names []string
	for _, info := range cfg.Points() {
		names = append(names, string(info.Path))
	}
	return names
}

// goodNames are the points that the device has.
func goodNames(h Harness, cfg driver.Config) []string {
	return slices.DeleteFunc(allNames(cfg), func(name string) bool {
		_, bad := h.Bad[name]
		return bad
	})
}

func mustRead(t *testing.T, s driver.Session, names []string) []point.Sample {
	t.Helper()
	samples, err := s.Read(t.Context(), names)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	if len(samples) != len(names) {
		t.Fatalf("got %d samples for %d names", len(samples), len(names))
	}
	for i, sample := range samples {
		if string(sample.Point) != names[i] {
			t.Errorf("sample %d is of %q, want %q", i, sample.Point, names[i])
		}
	}
	return samples
}

// mustBeGood reads and requires good quality and the wanted values.
func mustBeGood(t *testing.T, h Harness, s driver.Session, names []string) {
	t.Helper()
	for _, sample := range mustRead(t, s, names) {
		if !sample.Quality.IsGood() {
			t.Errorf("%s is %v, want good", sample.Point, sample.Quality)
		}
		if want, fixed := h.Want[string(sample.Point)]; fixed && sample.Value != want {
			t.Errorf("%s is %v, want %v", sample.Point, sample.Value, want)
		}
	}
}

// within requires that f returns within the limit plus slack.
func within(t *testing.T, limit time.Duration, f func()) {
	t.Helper()
	began := time.Now()
	f()
	if took := time.Since(began); took > limit+slack {
		t.Errorf("took %v, want at most %v", took, limit)
	}
}

// mustFail requires an error and no samples; with lost the error must say ErrNotConnected.
func mustFail(t *testing.T, samples []point.Sample, err error, lost bool) {
	t.Helper()
	switch {
	case err == nil:
		t.Fatal("got no error, want one")
	case samples != nil:
		t.Errorf("got %d samples with the error %v, want none", len(samples), err)
	case lost && !errors.Is(err, driver.ErrNotConnected):
		t.Errorf("got %v, want ErrNotConnected", err)
	case fault.KindOf(err) == fault.Internal:
		t.Errorf("the error %v has no kind", err)
	}
}

func cancelled(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}
