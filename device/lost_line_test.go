package device_test

import (
	"testing"
	"time"

	"voltbus/device"
	"voltbus/driver/dnp3"
	"voltbus/point"
	"voltbus/testing/link"
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

// A line that is dead without a word, as behind a firewall that forgot it, is found by the next scan or, where there is none,
// by asking for the link status.
func TestAttackALineThatDropsEverythingMakesItsPointsBad(t *testing.T) {
	for name, change := range map[string]func(c *device.Config, d *dnp3.Config){
		"by a scan":       func(c *device.Config, d *dnp3.Config) { c.Interval, d.KeepAlive = 200*time.Millisecond, 0 },
		"by a keep-alive": func(c *device.Config, d *dnp3.Config) { c.Interval, d.KeepAlive = 0, 200*time.Millisecond },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRelay(t, 100)
			r.serve(t)
			line := link.New(t)
			line.Lead(r.address)
			book := newLogbook()
			c := r.half(t, "site/a", 0)
			d := c.Driver.(*dnp3.Config)
			d.Address, d.Timeout, d.Retries = line.Addr(), time.Second, 0
			change(&c, d)
			fleet(t, book, c)
			is := func(good bool) func() bool {
				return func() bool {
					return book.has("site/a/p0", func(s point.Sample) bool { return s.Quality == point.Good == good })
				}
			}
			book.await(t, "a good value", is(true))
			line.Hold(link.Up, true)
			line.Hold(link.Down, true)
			book.await(t, "a bad quality", is(false))
		})
	}
}
