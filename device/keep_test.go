package device_test

import (
	"sync"
	"testing"
	"time"

	"voltbus/point"
)

// disk keeps what was recorded when it is told to.
type disk struct {
	mu      sync.Mutex
	waiting []func()
	begun   chan struct{}
}

func (d *disk) settle(kept func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting = append(d.waiting, kept)
	select {
	case d.begun <- struct{}{}:
	default:
	}
}

func (d *disk) flush() {
	d.mu.Lock()
	waiting := d.waiting
	d.waiting = nil
	d.mu.Unlock()
	for _, kept := range waiting {
		kept()
	}
}

func TestAttackADeviceIsToldThatItsReportsArrivedOnlyWhenTheyAreOnDisk(t *testing.T) {
	r := newRelay(t, 100)
	r.serve(t)
	book, slow := newLogbook(), &disk{begun: make(chan struct{}, 1)}
	book.disk = slow.settle
	_, stop := fleet(t, book, r.half(t, "site/a", 0))
	book.await(t, "the first value", func() bool { return book.has("site/a/p0", func(point.Sample) bool { return true }) })
	r.happen(0, 0, 10)
	book.expect(t, "site/a/p0", 0, 10)
	<-slow.begun
	if n := r.confirmed.Load(); n != 0 {
		t.Errorf("%d events were confirmed, and none is on disk", n)
	}
	slow.flush()
	r.await(t, 10)

	r.happen(0, 10, 20) // these are never on disk: the node loses its power
	book.expect(t, "site/a/p0", 0, 20)
	<-slow.begun
	stop()
	again := newLogbook()
	_, _ = fleet(t, again, r.half(t, "site/a", 0))
	again.expect(t, "site/a/p0", 10, 20)
	r.await(t, 20)
}

// An outstation answers nothing before it knows that its events arrived, and the owner of the line waits for its answer.
func TestScansAndCommandsGoOnWhileEventsWaitForTheDisk(t *testing.T) {
	r := newRelay(t, 1000)
	r.serve(t)
	book := newLogbook()
	book.disk = func(kept func()) { time.AfterFunc(5*time.Millisecond, kept) }
	one, two := r.half(t, "site/a", 0), r.half(t, "site/b", 1) // they share the outstation
	for _, c := range []*time.Duration{&one.Interval, &two.Interval} {
		*c = 20 * time.Millisecond
	}
	two.Subscribe = false
	f, _ := fleet(t, book, one, two)
	for i := range 20 {
		r.happen(0, i*20, (i+1)*20)
		r.happen(1, i*20, (i+1)*20)
		if got := f.ReadMany(t.Context(), []point.Path{"site/a/p0", "site/b/p1"}); got[0].Err != nil || got[1].Err != nil {
			t.Fatalf("a read on request says %v and %v", got[0].Err, got[1].Err)
		}
	}
	book.expect(t, "site/a/p0", 0, 400)
	book.expect(t, "site/b/p1", 0, 400)
	r.await(t, 800)
	for _, d := range f.Devices() {
		if d.Failures > 0 || d.Lost > 0 {
			t.Errorf("%s: %d failures, %d lost: %s", d.Path, d.Failures, d.Lost, d.LastError)
		}
	}
}
