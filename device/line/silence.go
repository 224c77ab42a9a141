package line

import (
	"slices"
	"time"

	"voltbus/device/clock"
	"voltbus/point"
)

// silence is the back-off of a device that does not answer on a working line.
type silence struct {
	timeouts int           // in a row; 0: the device is not silent
	skip     int           // slots to pass before the next probe
	quality  point.Quality // quality of its slots meanwhile
	waiting  bool          // a probe is pending
	owed     time.Time     // the slot that its probe is for
}

// The share of time for silent devices.
const (
	probeShare     = 4 // others get this many times the duration of a probe
	probesToRedial = 3 // unanswered ones, if no device of the line answers
)

// deepen records one more time-out: 0, 1, 3, 7 … slots pass before the next probe, within the longest
// interval.
func (s *silence) deepen(q point.Quality, interval, distance time.Duration) {
	s.timeouts++
	s.quality = q
	s.skip = 0
	if interval > 0 {
		most := max(int(distance/interval)-1, 0)
		s.skip = min(1<<min(s.timeouts-1, 30)-1, most)
	}
}

// silences are the probes of a line's silent devices: they wait until nothing else is due, and leave most of the time to the others.
type silences struct {
	clock    *clock.Clock
	distance time.Duration // longest interval between two probes of a device
	probes   []*Device     // silent devices whose turn has come, in order
	gate     time.Duration // no probe before
	mute     int           // probes without an answer since the last answer of any device
}

// deepen makes a device silent after a time-out. It returns whether to redial the line, because none of its devices answers.
func (s *silences) deepen(u *Device, units []*Device, q point.Quality, took time.Duration) (redial bool) {
	u.silence.deepen(q, u.cfg.Interval, s.distance)
	s.mute++
	switch {
	case someAnswer(units):
		s.gate = s.clock.Now().Steady + probeShare*took
	case s.mute >= probesToRedial:
		s.mute = 0
		return true
	}
	return false
}

// keep drops the probes of devices that leave.
func (s *silences) keep(staying map[*Device]bool) {
	waiting := s.probes[:0]
	for _, u := range s.probes {
		if staying[u] {
			waiting = append(waiting, u)
		}
	}
	clear(s.probes[len(waiting):])
	s.probes = waiting
}

// visit serves a slot of a silent device: it queues a probe for it, or returns the slot to skip.
func (s *silences) visit(u *Device, slot time.Time) (skipped time.Time, skip bool) {
	own := &u.silence
	switch {
	case own.waiting:
		skipped, own.owed = own.owed, slot
		return skipped, true
	case own.skip > 0:
		own.skip--
		return slot, true
	}
	own.waiting, own.owed = true, slot
	s.probes = append(s.probes, u)
	return time.Time{}, false
}

// ready reports whether a silent device may be probed now.
func (s *silences) ready(now clock.Instant) bool { return len(s.probes) > 0 && now.Steady >= s.gate }

// starved reports whether a probe must take precedence over slots, because the line is never idle.
func (s *silences) starved(now clock.Instant) bool {
	return s.ready(now) && now.Steady >= s.gate+s.distance
}

// until returns the time until a probe is due.
func (s *silences) until(now clock.Instant) time.Duration {
	if len(s.probes) == 0 {
		return longestWait
	}
	return s.gate - now.Steady
}

// take returns the silent device that has waited longest.
func (s *silences) take() *Device {
	u := s.probes[0]
	s.probes = s.probes[1:]
	u.silence.waiting = false
	return u
}

// end ends a device's silence. It returns the slot that its probe was for, if it waited for one.
func (s *silences) end(u *Device) (owed time.Time, waited bool) {
	owed, waited = u.silence.owed, u.silence.waiting
	if waited {
		s.probes = slices.DeleteFunc(s.probes, func(p *Device) bool { return p == u })
	}
	u.silence = silence{}
	return owed, waited
}

// endAll ends the silence of all devices, after calling skip for each slot whose probe is pending: the line is lost, so no device answers,
// and when it is back all are asked.
func (s *silences) endAll(units []*Device, skip func(u *Device, owed time.Time)) {
	for _, u := range s.probes {
		skip(u, u.silence.owed)
	}
	s.probes, s.mute = nil, 0
	for _, u := range units {
		u.silence = silence{}
	}
}

// someAnswer reports whether any of the devices is not silent.
func someAnswer(units []*Device) bool {
	for _, u := range units {
		if u.silence.timeouts == 0 {
			return true
		}
	}
	return false
}
