package channel

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// The wheel turns by one slot in a tick; what lies further ahead than one turn waits in
// the last slot and is put in its place from there.
const (
	tick       = 10 * time.Millisecond
	wheelSlots = 512
)

// wheel calls alarms when they are due, all by one goroutine and one runtime timer.
// Most alarms are moved or stopped long before they are due (a confirmation comes), so
// moving one to a later time costs two atomic operations: it is found out when the old
// place comes around.
type wheel struct {
	start time.Time
	kick  chan struct{}

	mu     sync.Mutex
	slots  [wheelSlots]*alarm // lists
	count  int
	turned int64 // ticks since start that are dealt with
	sleep  int64 // tick until which run sleeps
}

// alarm is an entry of a wheel. Its zero value with a ring function is ready.
type alarm struct {
	ring   func()
	want   atomic.Int64 // tick when to ring, 0 for never
	placed atomic.Int64 // tick of the place in the wheel, 0 for none

	next, prev *alarm
	slot       int
}

func newWheel() *wheel {
	return &wheel{start: time.Now().Add(-tick), kick: make(chan struct{}, 1)}
}

// ticks returns the first tick that is not before t.
func (w *wheel) ticks(t time.Time) int64 {
	return max(1, int64((t.Sub(w.start)+tick-1)/tick))
}

// set moves an alarm to a time, the zero time for never.
func (w *wheel) set(a *alarm, at time.Time) {
	if at.IsZero() {
		a.want.Store(0)
		return
	}
	want := w.ticks(at)
	a.want.Store(want)
	if placed := a.placed.Load(); placed != 0 && placed <= want {
		return
	}
	w.mu.Lock()
	wake := w.place(a, want)
	w.mu.Unlock()
	if wake {
		select {
		case w.kick <- struct{}{}:
		default:
		}
	}
}

// drop stops an alarm and takes it out.
func (w *wheel) drop(a *alarm) {
	a.want.Store(0)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unlink(a)
}

// place puts an alarm into the slot of a tick and reports whether run sleeps too long.
func (w *wheel) place(a *alarm, want int64) bool {
	at := min(max(want, w.turned+1), w.turned+wheelSlots-1)
	if placed := a.placed.Load(); placed != 0 && placed <= at {
		return false
	}
	w.unlink(a)
	a.slot = int(at % wheelSlots)
	a.next = w.slots[a.slot]
	if a.next != nil {
		a.next.prev = a
	}
	w.slots[a.slot] = a
	w.count++
	a.placed.Store(at)
	return at < w.sleep
}

func (w *wheel) unlink(a *alarm) {
	if a.placed.Load() == 0 {
		return
	}
	if a.prev != nil {
		a.prev.next = a.next
	} else {
		w.slots[a.slot] = a.next
	}
	if a.next != nil {
		a.next.prev = a.prev
	}
	a.next, a.prev = nil, nil
	w.count--
	a.placed.Store(0)
}

// run turns the wheel until ctx ends.
func (w *wheel) run(ctx context.Context) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		w.turn()
		timer.Reset(w.pause())
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-w.kick:
		}
	}
}

// pause returns how long nothing will be due.
func (w *wheel) pause() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sleep = w.turned + wheelSlots
	if w.count > 0 {
		for at := w.turned + 1; at < w.turned+wheelSlots; at++ {
			if w.slots[at%wheelSlots] != nil {
				w.sleep = at
				break
			}
		}
	}
	if w.count == 0 {
		w.sleep = 1<<63 - 1
		return time.Hour
	}
	return time.Until(w.start.Add(time.Duration(w.sleep) * tick))
}

// turn rings the alarms that are due.
func (w *wheel) turn() {
	now := int64(time.Since(w.start) / tick)
	for _, a := range w.due(now) {
		a.ring()
	}
}

func (w *wheel) due(now int64) []*alarm {
	w.mu.Lock()
	defer w.mu.Unlock()
	var due []*alarm
	if w.count == 0 || now > w.turned+wheelSlots {
		w.turned = max(w.turned, now-wheelSlots)
	}
	for ; w.turned < now; w.turned++ {
		for a := w.slots[(w.turned+1)%wheelSlots]; a != nil; {
			next := a.next
			w.unlink(a)
			switch want := a.want.Load(); {
			case want == 0:
			case want <= now:
				due = append(due, a)
			default:
				w.place(a, want)
			}
			a = next
		}
	}
	return due
}
