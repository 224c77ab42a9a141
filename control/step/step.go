// Package step holds what the parts of the control model share during one step: the current time, the timers, and the effects of the step
// (events, writes and changed records).
package step

import (
	"time"

	"voltbus/control"
)

// Step is the current step, which all parts of a model share. It is used by one goroutine at a time.
type Step struct {
	Limits control.Limits
	Now    control.Instant
	Steady Queue // timers on the steady clock
	Wall   Queue // timers on the wall clock
	Fences control.Newest

	order   uint64 // the counter of commands, reservations and overrides
	writes  uint64 // the identifier of the last write
	effects control.Effects
	by      string // the actor of the current step; "" for none
	changed map[Key]struct{}
}

// New returns a step without a time.
func New(limits control.Limits) *Step {
	return &Step{Limits: limits.WithDefaults(), Fences: make(control.Newest), changed: make(map[Key]struct{})}
}

// Enter sets the time, and calls the owners of the timers that are due.
func (s *Step) Enter(now control.Instant) {
	now.Steady = max(now.Steady, s.Now.Steady)
	s.Now = now
	for {
		t := s.Steady.due(int64(now.Steady))
		if t == nil {
			t = s.Wall.due(now.Wall.UnixNano())
		}
		if t == nil {
			return
		}
		t.owner.Due()
	}
}

// EnterAs is Enter for the action of a requester.
func (s *Step) EnterAs(now control.Instant, by string) {
	s.Enter(now)
	s.by = by
}

// CausedBy sets the actor named in events, until the end of the step; "" for none.
func (s *Step) CausedBy(by string) { s.by = by }

// Take ends the step, and returns its effects.
func (s *Step) Take() control.Effects {
	out := s.effects
	s.effects, s.by = control.Effects{}, ""
	return out
}

// glance bounds a wait on the wall clock, which may jump meanwhile.
const glance = 10 * time.Second

// Next returns how long after now a timer is due; false if none is set.
func (s *Step) Next(now control.Instant) (wait time.Duration, ok bool) {
	if at, set := s.Steady.first(); set {
		wait, ok = time.Duration(at)-now.Steady, true
	}
	if at, set := s.Wall.first(); set {
		until := min(time.Duration(at-now.Wall.UnixNano()), glance)
		if !ok || until < wait {
			wait, ok = until, true
		}
	}
	return max(wait, 0), ok
}

// After returns the wall time some time from now.
func (s *Step) After(d time.Duration) time.Time { return s.Now.At(s.Now.Steady + d) }

// Event adds an event, with its actor.
func (s *Step) Event(e control.Event) {
	if s.by != e.Requester {
		e.By = s.by
	}
	s.effects.Events = append(s.effects.Events, e)
}

// Write requests a write or read from the caller, under a new identifier, which it returns.
func (s *Step) Write(w control.Write) uint64 {
	s.writes++
	w.ID = s.writes
	s.effects.Writes = append(s.effects.Writes, w)
	return w.ID
}

// NextOrder returns the next number in the order of creation.
func (s *Step) NextOrder() uint64 {
	s.order++
	s.Touch(Meta, "")
	return s.order
}

// Touch marks a record as changed.
func (s *Step) Touch(kind, key string) { s.changed[Key{kind, key}] = struct{}{} }
