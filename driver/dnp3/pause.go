package dnp3

import (
	"time"

	"voltbus/driver"
	"voltbus/protocol/dnp3/station"
)

var _ driver.Pauser = (*line)(nil)

// Pause implements driver.Pauser: what arrives stays in the stream.
func (l *line) Pause() { l.hold(true) }

// Resume implements driver.Pauser.
func (l *line) Resume() { l.hold(false) }

func (l *line) hold(on bool) {
	l.mu.Lock()
	l.held = on
	open := l.wires()
	l.mu.Unlock()
	for _, w := range open {
		w.do(func(time.Time, *station.Output) { w.held = on })
	}
}

// wires returns all connections that are read. The mutex is held.
func (l *line) wires() []*wire {
	open := make([]*wire, 0, len(l.guests)+1)
	for w := range l.guests {
		open = append(open, w)
	}
	if l.begun {
		open = append(open, l.only)
	}
	return open
}

// has reports whether a station is still to be on a wire.
func (l *line) has(s *remote, w *wire) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stations[s.addresses()] == s && s.wire == w
}
