package storetest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"voltbus/fault"
	"voltbus/point"
	"voltbus/store"
)

// noon is the middle of the day that most tests write to.
func noon() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// at returns noon plus seconds.
func at(seconds float64) time.Time {
	return noon().Add(time.Duration(seconds * float64(time.Second)))
}

// float returns a good sample.
func float(p point.Path, t time.Time, v float64) point.Sample {
	return point.Sample{Point: p, Time: t, Value: point.FloatOf(v)}
}

// values compares samples and their values bit by bit.
func values() cmp.Option { return cmp.Comparer(func(a, b point.Value) bool { return a == b }) }

// origin generates the blocks of one node and counts as a node does.
type origin struct {
	name     string
	sequence uint64
	before   uint64
}

// block returns the origin's next block.
func (o *origin) block(samples ...point.Sample) *point.Block {
	o.sequence++
	b := &point.Block{Origin: o.name, Sequence: o.sequence, Before: o.before, Created: at(float64(o.sequence))}
	index := make(map[point.Path]uint32)
	for i := range samples {
		p := samples[i].Point
		if _, ok := index[p]; !ok {
			index[p] = uint32(len(b.Points))
			b.Points = append(b.Points, p)
		}
		b.Append(index[p], &samples[i])
	}
	o.before += uint64(len(samples))
	return b
}

// fixture is a store under test.
type fixture struct {
	store.Store
	tb     testing.TB
	open   func() store.Store
	origin origin
}

// start opens a store in a new location and closes it when the test ends.
func start(tb testing.TB, place Place, r store.Retention) *fixture {
	tb.Helper()
	open := place(tb, r)
	f := &fixture{Store: open(), tb: tb, open: open, origin: origin{name: "edge-1"}}
	tb.Cleanup(f.stop)
	return f
}

// stop closes the store, once.
func (f *fixture) stop() {
	if f.Store == nil {
		return
	}
	if err := f.Close(); err != nil {
		f.tb.Errorf("close: %v", err)
	}
	f.Store = nil
}

// reopen closes the store and opens it again.
func (f *fixture) reopen() {
	f.stop()
	f.Store = f.open()
}

// append stores the samples as the origin's next block.
func (f *fixture) append(samples ...point.Sample) store.Result {
	f.tb.Helper()
	return f.appendBlocks(f.origin.block(samples...))
}

func (f *fixture) appendBlocks(blocks ...*point.Block) store.Result {
	f.tb.Helper()
	res, err := f.Append(f.tb.Context(), blocks)
	if err != nil {
		f.tb.Fatalf("append: %v", err)
	}
	return res
}

// everything is the range that holds all times.
func everything(points ...point.Path) store.Range {
	return store.Range{
		Points: points, From: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), To: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
}

// read returns copies of the samples of a range.
func (f *fixture) read(r store.Range) []point.Sample {
	f.tb.Helper()
	var out []point.Sample
	err := f.Read(f.tb.Context(), r, func(run []point.Sample) error {
		out = append(out, run...)
		clear(run) // the store must not rely on slices that it passed on
		return nil
	})
	if err != nil {
		f.tb.Fatalf("read: %v", err)
	}
	return out
}

func (f *fixture) wantRead(r store.Range, want ...point.Sample) {
	f.tb.Helper()
	if diff := cmp.Diff(want, f.read(r), values()); diff != "" {
		f.tb.Errorf("read (-want +got):\n%s", diff)
	}
}

func (f *fixture) maintain(now time.Time) {
	f.tb.Helper()
	if err := f.Maintain(f.tb.Context(), now); err != nil {
		f.tb.Fatalf("maintain: %v", err)
	}
}

func (f *fixture) stats() store.Stats {
	f.tb.Helper()
	s, err := f.Stats(f.tb.Context())
	if err != nil {
		f.tb.Fatalf("stats: %v", err)
	}
	return s
}

func (f *fixture) position(name string) store.Position {
	f.tb.Helper()
	all, err := f.Positions(f.tb.Context())
	if err != nil {
		f.tb.Fatalf("positions: %v", err)
	}
	return all[name]
}

// want reports a difference between two values of any type.
func want[T any](tb testing.TB, what string, expected, got T) {
	tb.Helper()
	if diff := cmp.Diff(expected, got, values()); diff != "" {
		tb.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantKind(tb testing.TB, err error, kind fault.Kind) {
	tb.Helper()
	if !fault.Is(err, kind) {
		tb.Errorf("error is %v (%v), want kind %v", err, fault.KindOf(err), kind)
	}
}
