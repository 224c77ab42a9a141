package device_test

import (
	"testing"
	"time"

	"voltbus/point"
)

// A device that reports by itself may be scanned once an hour: until then its points were good, and its line lost.
func TestAttackALostLineMakesItsPointsBadBeforeTheNextScan(t *testing.T) {
	r := newRelay(t, 100)
	r.serve(t)
	book := newLogbook()
	c := r.half(t, "site/a", 0)
	c.Interval, c.ReadAtStart = time.Hour, true
	fleet(t, book, c)
	book.await(t, "a good value", func() bool {
		return book.has("site/a/p0", func(s point.Sample) bool { return s.Quality == point.Good })
	})
	r.hangUp()
	book.await(t, "a bad quality", func() bool {
		return book.has("site/a/p0", func(s point.Sample) bool { return s.Quality == point.BadUnreachable })
	})
}
