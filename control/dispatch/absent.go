package dispatch

import (
	"time"

	"voltbus/control"
)

// lookEvery is the time between looks at who is on the bus, at most.
const lookEvery = 5 * time.Second

// absent knows since when requesters that hold something are gone.
type absent struct {
	since map[string]time.Duration // on the steady clock
	next  time.Duration            // when to look; 0: never looked
	off   bool                     // nobody knows who is there
}

// due returns how long not to look.
func (a *absent) due(now control.Instant) time.Duration {
	if a.off {
		return time.Minute
	}
	return a.next - now.Steady
}

// lookAround ends everything of requesters that are gone for too long.
func (d *Dispatcher) lookAround(t *turn) {
	if a := &d.absent; d.cfg.Online == nil {
		a.off = true
		return
	} else if a.due(t.now) > 0 {
		return
	}
	d.absent.next = t.now.Steady + min(lookEvery, max(d.cfg.Absence/4, time.Second))
	gone := make(map[string]time.Duration)
	var online func(requester string) bool
	for _, requester := range d.model.Requesters() {
		if online == nil {
			online = d.cfg.Online()
		}
		if online(requester) {
			continue
		}
		since, known := d.absent.since[requester]
		if !known {
			since = t.now.Steady
		}
		if t.now.Steady-since >= d.cfg.Absence {
			d.leave(t, requester, control.CauseLeft, node)
			continue
		}
		gone[requester] = since
	}
	d.absent.since = gone
}
