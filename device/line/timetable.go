package line

import (
	"container/heap"
	"time"

	"voltbus/device/clock"
)

// timetable determines which device of a line is read when.
type timetable struct {
	clock  *clock.Clock
	agenda agenda // of the devices that are read
	jumps  uint64 // jumps of the clock seen so far
}

// fill builds the timetable of the devices.
func (t *timetable) fill(units []*Device) {
	t.agenda = t.agenda[:0]
	for _, u := range units {
		if u.cfg.Interval > 0 {
			t.agenda = append(t.agenda, u)
		}
	}
	heap.Init(&t.agenda)
}

// due reports whether the slot of a device has come.
func (t *timetable) due(now clock.Instant) bool {
	return len(t.agenda) > 0 && !t.agenda[0].at.After(now.Wall)
}

// next returns the device whose slot comes first.
func (t *timetable) next() *Device { return t.agenda[0] }

// until returns the time until a slot is due.
func (t *timetable) until(now clock.Instant) time.Duration {
	if len(t.agenda) == 0 {
		return longestWait
	}
	return t.agenda[0].at.Sub(now.Wall)
}

// follow replans every slot after the wall clock has jumped.
func (t *timetable) follow(now clock.Instant) {
	jumps := t.clock.Jumps.Load()
	if jumps == t.jumps {
		return
	}
	t.jumps = jumps
	for _, u := range t.agenda {
		if !u.at.IsZero() {
			u.plan(now)
		}
	}
	heap.Init(&t.agenda)
}

// advance returns the slot to serve now for the device that comes first, which is its latest one, and plans the next.
func (t *timetable) advance(u *Device, now clock.Instant) time.Time {
	u.served = now.Steady
	var slot time.Time
	if u.at.IsZero() {
		u.plan(now)
	} else {
		slot = u.schedule.Last(now.Wall)
		if missed := slot.Sub(u.at) / u.cfg.Interval; missed > 0 {
			u.mu.Lock()
			u.state.Overruns += uint64(missed)
			u.mu.Unlock()
		}
		u.at = slot.Add(u.cfg.Interval)
	}
	heap.Fix(&t.agenda, 0)
	return slot
}

// bringBack plans a postponed slot for now.
func (t *timetable) bringBack(u *Device, slot time.Time) {
	u.at = slot
	heap.Init(&t.agenda)
}

// agenda is a heap of the devices to read, the next one first; at equal times the one served longest ago,
// then the one configured first.
type agenda []*Device

func (a agenda) Len() int { return len(a) }

func (a agenda) Less(i, j int) bool {
	if order := a[i].at.Compare(a[j].at); order != 0 {
		return order < 0
	}
	if a[i].served != a[j].served {
		return a[i].served < a[j].served
	}
	return a[i].order < a[j].order
}

func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }

// Push implements heap.Interface.
func (a *agenda) Push(x any) { *a = append(*a, x.(*Device)) }

// Pop implements heap.Interface.
func (a *agenda) Pop() any {
	last := len(*a) - 1
	u := (*a)[last]
	*a = (*a)[:last]
	return u
}
