package device_test

import (
	"testing"
	"time"
)

// The events that a scan brings are confirmed, so that the device forgets them.
func TestAttackAScanWithoutSubscribeLosesNoEvents(t *testing.T) {
	r := newRelay(t, 1000)
	r.serve(t)
	book := newLogbook()
	c := r.half(t, "site/a", 0)
	c.Subscribe, c.Interval, c.ReadAtStart = false, 20*time.Millisecond, true
	r.happen(0, 0, 100) // before the first scan
	fleet(t, book, c)
	book.await(t, "the first events", func() bool { return len(book.events("site/a/p0")) >= 100 })
	r.happen(0, 100, 500) // between two
	book.expect(t, "site/a/p0", 0, 500)
}
