package control

import (
	"slices"
	"strings"
	"time"

	"voltbus/point"
)

// drift is what is known of a point beside what it was set to.
type drift struct {
	back     bool // it could not be read since it was last compared, or the node was down
	checking bool // the point is read to see whether it still holds what it was set to
	moving   bool // it was on its way in steps then
	assert   bool // what it lost is written again as soon as assertAt allows

	assertAt    time.Duration // no such write before
	assertPause time.Duration // after the next one

	told     bool // that there is a mismatch
	sayAt    time.Duration
	sayPause time.Duration
	say      alarm
}

// The bounds of what a point that does not keep its value may cause. Pauses double from the first to the
// longest, and begin anew after as long without trouble.
const (
	firstPause = time.Minute
	mostPause  = time.Hour
)

// see takes a reading of a point over; the zero Value is none.
func (m *Model) see(t *target, v point.Value) {
	known := v.Kind() != point.None
	if known {
		t.observed = v
	}
	returned := known && t.away
	t.away = !known
	w := t.work
	if w == nil {
		return
	}
	w.back = w.back || returned
	defer m.judge(t)
	switch {
	case !known || w.sent.ID != 0: // the outcome of what is under way says more
	case w.state == Failed || w.state == Unknown:
		if returned {
			m.settle(t, CauseRetry)
		}
	case w.state == Held || w.state == Differs || w.state == Mismatch:
		w.reported = v
		m.compare(t, v)
	}
}

// expected is what the point is to report; false if nobody wishes anything of it.
func (t *target) expected() (point.Value, bool) {
	wish, ok := t.wish("")
	if t.work.state != Mismatch {
		return t.work.held, ok // which may be a step on the way to the wish
	}
	return wish.Value, ok
}

// compare looks whether a point still has what it was set to. What a reading says may be older than the
// last write, so that the point is asked before it is said to have changed.
func (m *Model) compare(t *target, v point.Value) {
	w := t.work
	wants, wished := t.expected()
	switch {
	case !wished:
		m.rest(t, v)
	case t.alike(v, wants):
		if m.keeps(t, wants); w.reverting {
			m.settle(t, CauseCheck)
		}
	case t.isFrozen(): // somebody works on it
		w.state = Mismatch
		m.hold(w, v)
	case w.state == Held || w.back:
		m.doubt(t)
		m.settle(t, CauseCheck)
	}
}

// doubt has it found out whether a point still has what it was set to.
func (m *Model) doubt(t *target) {
	w := t.work
	wish, _ := t.wish("")
	w.moving = w.state != Mismatch && w.state != Differs && !t.alike(w.held, wish.Value)
	w.state, w.checking = Unknown, true
}

// resumed has a point read of which the node knows only what it held when it stopped.
func (m *Model) resumed(t *target) {
	w := t.work
	if w == nil || w.state != Held && w.state != Differs && w.state != Mismatch {
		return
	}
	w.back = true
	if _, wished := t.wish(""); wished {
		m.doubt(t)
	} else {
		w.state = Idle
	}
}

// rest forgets what a point was set to of which nobody wishes anything, and which has another value now.
func (m *Model) rest(t *target, v point.Value) {
	if w := t.work; !t.alike(v, w.held) {
		w.state, w.held = Idle, v
		m.touch(recordPoint, string(t.spec.Point))
	}
}

// keeps notes that a point has what it was set to.
func (m *Model) keeps(t *target, v point.Value) {
	w := t.work
	w.back, w.assert, w.checking, w.partial = false, false, false, false
	if w.state != Held {
		w.state = Held
		m.hold(w, v)
		m.touch(recordPoint, string(t.spec.Point))
	}
	m.sayDrift(t)
}

// checked judges what was read from a point that may have changed.
func (m *Model) checked(t *target, got point.Value) {
	w := t.work
	w.checking = false
	wish, wished := t.wish("")
	back := w.back
	w.back = false
	switch {
	case !wished:
		w.state = Idle
	case t.alike(got, wish.Value):
		m.keeps(t, wish.Value)
		return
	case w.moving: // it goes on from here
		w.state = Held
	default:
		w.state = Mismatch
		when := t.spec.policy().Assert
		w.assert = !t.isFrozen() && (when == AssertAlways || when != AssertNever && (back || w.partial))
	}
	m.hold(w, got)
	m.touch(recordPoint, string(t.spec.Point))
	m.sayDrift(t)
}

// Amiss is a point that does not have what it should have, as far as is known.
type Amiss struct {
	Point  point.Path
	Output Output // Mismatch, Differs or Failed; Unknown if the device was asked in vain
	Why    string // of Failed and Unknown: why the last write or read gave no result, as the device or the driver says; hostile
}

// amissOf returns how a point is that does not have what it should have.
func (t *target) amissOf() Amiss {
	a := Amiss{Point: t.spec.Point, Output: t.work.state}
	if a.Output == Failed || a.Output == Unknown {
		a.Why = t.work.text
	}
	return a
}

// judge notes whether a point has what it should have.
func (m *Model) judge(t *target) {
	path, w := t.spec.Point, t.work
	_, wished := t.wish("")
	wrong := wished && !t.isFrozen() && (w.state == Mismatch || w.state == Differs || w.state == Failed || w.state == Unknown && w.failures > 0)
	switch before, was := m.amiss[path]; {
	case wrong && before != t.amissOf():
		m.amiss[path] = t.amissOf()
	case !wrong && was:
		delete(m.amiss, path)
	default:
		return
	}
	m.amissed++
}

// Amiss returns the points that do not have what they should have, by path. Overridden ones do not count.
func (m *Model) Amiss() []Amiss {
	list := make([]Amiss, 0, len(m.amiss))
	for _, a := range m.amiss {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Amiss) int { return strings.Compare(string(a.Point), string(b.Point)) })
	return list
}

// AmissChanges counts how often Amiss has changed.
func (m *Model) AmissChanges() uint64 { return m.amissed }

// assert has a point that lost its value written again, and bounds how soon that may be done once more.
func (m *Model) assert(t *target) {
	t.work.assert, t.work.insist = false, true
	m.putOff(t)
}

// putOff has the next such write wait.
func (m *Model) putOff(t *target) {
	w, first := t.work, t.spec.policy().AssertPause
	if first == 0 {
		first = firstPause
	}
	w.assertAt, w.assertPause = m.backOff(w.assertAt, w.assertPause, first)
}

// backOff returns the moment before which something is not done again, and the pause that follows.
func (m *Model) backOff(at, pause, first time.Duration) (next, following time.Duration) {
	if pause == 0 || m.now.Steady > at+max(mostPause, first) {
		pause = first
	}
	return m.now.Steady + pause, min(2*pause, max(mostPause, first))
}

// sayDrift tells that a mismatch began or ended. A point that changes to and fro is told of at growing
// distances, and in the end as it is.
func (m *Model) sayDrift(t *target) {
	w := t.work
	m.steady.stop(&w.say)
	is := w.state == Mismatch && !t.isFrozen()
	switch {
	case is == w.told:
		return
	case is && m.now.Steady < w.sayAt:
		m.steady.set(&w.say, (*teller)(w), int64(w.sayAt))
		return
	}
	e := Event{Kind: MismatchEnded, Cause: CauseCheck, Value: w.reported, Holder: Holder{Path: t.spec.Point}}
	if c := t.at0(); c != nil {
		e.Holder = c.holder(m)
		e.Wish = c.Value
	} else if wish, ok := t.wish(""); ok {
		e.Wish = wish.Value
	}
	if is {
		e.Kind = Mismatched
		w.sayAt, w.sayPause = m.backOff(w.sayAt, w.sayPause, firstPause)
	}
	w.told = is
	m.touch(recordPoint, string(t.spec.Point))
	m.event(e)
}

// teller rings when a mismatch may be told of again.
type teller work

func (s *teller) ring(m *Model) { m.sayDrift(s.owner) }
