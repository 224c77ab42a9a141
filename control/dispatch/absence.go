package dispatch

import (
	"time"

	"voltbus/control"
)

// lookEvery is the time between looks at who is on the bus, at most.
const lookEvery = 5 * time.Second

// absence knows since when requesters that hold something are gone.
type absence struct {
	since map[string]time.Duration // on the steady clock
	next  time.Duration            // when to look; 0: never looked
	off   bool                     // nobody knows who is there
}

// due returns how long not to look.
func (a *absence) due(now control.Instant) time.Duration {
	if a.off {
		return time.Minute
	}
	return a.next - now.Steady
}

// lookAround ends everything of requesters that are gone for too long.
func (l *loop) lookAround(t *turn) {
	if a := &l.absence; l.cfg.Online == nil {
		a.off = true
		return
	} else if a.due(t.now) > 0 {
		return
	}
	l.absence.next = t.now.Steady + min(lookEvery, max(l.cfg.Absence/4, time.Second))
	gone := make(map[string]time.Duration)
	var online func(requester string) bool
	for _, requester := range l.model.Requesters() {
		if online == nil {
			online = l.cfg.Online()
		}
		if online(requester) {
			continue
		}
		since, known := l.absence.since[requester]
		if !known {
			since = t.now.Steady
		}
		if t.now.Steady-since >= l.cfg.Absence {
			l.leave(t, requester, control.CauseLeft, node)
			continue
		}
		gone[requester] = since
	}
	l.absence.since = gone
}
