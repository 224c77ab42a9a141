package device

import (
	"container/heap"
	"context"
	"slices"
	"time"

	"voltbus/point"
)

// silence is the back-off of one device that does not answer on a living line.
type silence struct {
	timeouts int           // in a row; 0: the device is not silent
	skip     int           // slots to pass before the next probe
	quality  point.Quality // what its slots give meanwhile
	waiting  bool          // it is in the line's probes
	owed     time.Time     // the slot that its probe is for
}

// The shares that silent devices get.
const (
	probeShare     = 4 // others get so many times the time that a probe took
	probesToRedial = 3 // unanswered ones, when no device of the line answers
)

// deepen notes one more time-out: 0, 1, 3, 7 … slots pass before the next probe, at most the
// distance.
func (s *silence) deepen(q point.Quality, interval, distance time.Duration) {
	s.timeouts++
	s.quality = q
	s.skip = 0
	if interval > 0 {
		most := max(int(distance/interval)-1, 0)
		s.skip = min(1<<min(s.timeouts-1, 30)-1, most)
	}
}

// hush makes a device silent after it did not answer for a while.
func (l *line) hush(ctx context.Context, u *unit, q point.Quality, took time.Duration) {
	u.silence.deepen(q, u.cfg.Interval, l.limits.Probe)
	l.mute++
	switch {
	case l.someAnswer():
		l.gate = l.clock.now().steady + probeShare*took
	case l.mute >= probesToRedial:
		l.mute = 0
		l.hangUp(ctx)
	}
}

// someAnswer reports whether any device of the line is not silent.
func (l *line) someAnswer() bool {
	for _, u := range l.units {
		if u.silence.timeouts == 0 {
			return true
		}
	}
	return false
}

// visitSilent serves a slot of a silent device: with a bad scan, or by queuing a probe for it.
func (l *line) visitSilent(u *unit, slot time.Time, now instant) {
	s := &u.silence
	switch {
	case s.waiting:
		l.skip(u, s.owed, s.quality, now)
		s.owed = slot
	case s.skip > 0:
		s.skip--
		l.skip(u, slot, s.quality, now)
	default:
		s.waiting, s.owed = true, slot
		l.probes = append(l.probes, u)
	}
}

// probeReady reports whether a silent device may be asked now.
func (l *line) probeReady(now instant) bool { return len(l.probes) > 0 && now.steady >= l.gate }

// starved reports whether a probe has to go before slots, because the line is never idle.
func (l *line) starved(now instant) bool {
	return l.probeReady(now) && now.steady >= l.gate+l.limits.Probe
}

// probe asks the silent device that has waited longest.
func (l *line) probe(ctx context.Context) {
	u := l.probes[0]
	l.probes = l.probes[1:]
	u.silence.waiting = false
	l.scanSlot(ctx, u, u.silence.owed)
}

// wake ends a device's silence. If it waits for a probe, because it answered a request before
// that, the slot is served as usual instead.
func (l *line) wake(u *unit) {
	if u.silence.waiting {
		l.probes = slices.DeleteFunc(l.probes, func(p *unit) bool { return p == u })
		u.at = u.silence.owed
		heap.Init(&l.agenda)
	}
	u.silence = silence{}
}

// endSilence forgets who was silent: the line is lost, so that nobody answers, and when it is
// back everybody is asked.
func (l *line) endSilence(now instant) {
	for _, u := range l.probes {
		l.skip(u, u.silence.owed, point.BadUnreachable, now)
	}
	l.probes, l.mute = nil, 0
	for _, u := range l.units {
		u.silence = silence{}
	}
}
