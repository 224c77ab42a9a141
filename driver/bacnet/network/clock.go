package network

import (
	"context"
	"sync"
	"time"

	"voltbus/protocol/bacnet/client"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/ip"
	"voltbus/protocol/bacnet/service"
)

// Sync is how the clock of a device is set (ASHRAE 135 clauses 16.7 and 16.8).
type Sync struct {
	Local bool           // in local time (TimeSynchronization), otherwise in UTC
	Zone  *time.Location // of Local
	Every time.Duration
}

// syncPause is the least time between two messages that set clocks: a device takes one at a time, and so does a slow trunk.
const syncPause = 100 * time.Millisecond

// Clocks sets the clocks of devices, each as often as it is wanted, and never two at once. It is safe for concurrent use.
type Clocks struct {
	mu     sync.Mutex
	wanted map[ip.Address]*wantedSync
	wake   chan struct{}
}

// wantedSync is what those who use a device want. One device has one clock: the shortest distance counts.
type wantedSync struct {
	syncs map[*Sync]struct{}
	due   time.Time
}

// every returns how often the clock is set, and how.
func (w *wantedSync) every() (s *Sync) {
	for one := range w.syncs {
		if s == nil || one.Every < s.Every {
			s = one
		}
	}
	return s
}

func newClocks() *Clocks {
	return &Clocks{wanted: make(map[ip.Address]*wantedSync), wake: make(chan struct{}, 1)}
}

// Keep has the clock of a device set soon, and then again and again until stop is called.
func (c *Clocks) Keep(a ip.Address, s Sync) (stop func()) {
	own := &s
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.wanted[a]
	if w == nil {
		w = &wantedSync{syncs: make(map[*Sync]struct{}), due: time.Now()}
		c.wanted[a] = w
	}
	w.syncs[own] = struct{}{}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if delete(w.syncs, own); len(w.syncs) == 0 && c.wanted[a] == w {
			delete(c.wanted, a)
		}
	}
}

// run sets clocks until ctx ends.
func (c *Clocks) run(ctx context.Context, tell func(ip.Address, service.Unconfirmed, []byte)) {
	timer := time.NewTimer(syncPause)
	defer timer.Stop()
	for {
		wait := c.next(time.Now(), tell)
		timer.Reset(wait)
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-c.wake:
			select { // the pause is kept
			case <-ctx.Done():
				return
			case <-time.After(syncPause):
			}
		}
	}
}

// next sets the clock that is due first, if one is, and returns how long there is none.
func (c *Clocks) next(now time.Time, tell func(ip.Address, service.Unconfirmed, []byte)) (wait time.Duration) {
	c.mu.Lock()
	var first *wantedSync
	var at ip.Address
	for a, w := range c.wanted {
		if first == nil || w.due.Before(first.due) {
			first, at = w, a
		}
	}
	if first == nil || first.due.After(now) {
		defer c.mu.Unlock()
		if first == nil {
			return time.Hour
		}
		return first.due.Sub(now)
	}
	s := first.every()
	first.due = now.Add(s.Every)
	c.mu.Unlock()
	which, shown := service.UTCTimeSynchronization, now.UTC()
	if s.Local {
		which, shown = service.TimeSynchronization, now.In(s.Zone)
	}
	tell(at, which, service.AppendTime(nil, encoding.DateTime{Date: encoding.DateOf(shown), Time: encoding.TimeOf(shown)}))
	return syncPause
}

// tellClock sends a time to a device. One that does not arrive is sent again when its turn comes.
func tellClock(c *client.Client) func(ip.Address, service.Unconfirmed, []byte) {
	return func(a ip.Address, s service.Unconfirmed, payload []byte) {
		_ = c.At(client.Device{Address: a}).Tell(s, payload)
	}
}
