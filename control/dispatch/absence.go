package dispatch

import (
	"time"

	"voltbus/control"
)

// lookEvery is the longest time between checks of who is on the bus.
const lookEvery = 5 * time.Second

// absence tracks since when requesters that hold something have been disconnected.
type absence struct {
	since map[string]time.Duration // on the steady clock
	next  time.Duration            // when to check; 0: never checked
	off   bool                     // it is unknown who is connected
}

// due returns the time until the next check.
func (a *absence) due(now control.Instant) time.Duration {
	if a.off {
		return time.Minute
	}
	return a.next - now.Steady
}

// lookAround ends everything of requesters that have been disconnected too long.
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
