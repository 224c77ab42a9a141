// Package model decides the commanded value of each point: the state machine of control, without goroutines, clocks or I/O.
package model

import (
	"errors"
	"fmt"
	"time"

	"voltbus/control"
	"voltbus/control/interlock"
	"voltbus/control/repeat"
	"voltbus/control/reservation"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// Model is the state of control of one node. It is used by one goroutine at a time.
type Model struct {
	points
	*commands
	*approvals
	*overrides
	deviations
	step         *step.Step
	interlocks   *interlock.Locks
	reservations *reservation.Register
	answers      *repeat.Memory
}

// New returns a model without points.
func New(limits control.Limits) *Model {
	s := step.New(limits)
	m := &Model{
		points: points{make(map[point.Path]*target)}, commands: newCommands(s), approvals: newApprovals(s),
		deviations: deviations{list: make(map[point.Path]control.MismatchedPoint)},
		step:       s, interlocks: interlock.New(),
		answers: repeat.New(s),
	}
	m.overrides = &overrides{m: m, byPattern: make(map[point.Pattern]*override)}
	m.reservations = reservation.New(s, func(task string, path point.Path) {
		m.endUnder(task, path, func(p point.Path) bool { return m.reservations.Holds(task, p) })
	})
	return m
}

// leave ends a step with a decision.
func (m *Model) leave(d control.Decision) control.Decision {
	d.Effects = m.step.Take()
	return d
}

// Advance performs what is due: leases, windows and overrides end, and delayed writes follow.
func (m *Model) Advance(now control.Instant) control.Effects {
	m.step.Enter(now)
	return m.step.Take()
}

// Next returns how long after now Advance has something to do; false if nothing is scheduled.
func (m *Model) Next(now control.Instant) (wait time.Duration, ok bool) { return m.step.Next(now) }

// Declare adds points, or replaces their specs. Commands that no longer fit end. If a spec has problems,
// nothing changes, and the Invalid error lists all of them.
func (m *Model) Declare(now control.Instant, specs []control.Spec) (control.Effects, error) {
	var problems []error
	for i := range specs {
		for _, problem := range specs[i].Validate() {
			problems = append(problems, fmt.Errorf("%s: %w", specs[i].Point, problem))
		}
	}
	if len(problems) > 0 {
		return control.Effects{}, fault.E("control.Declare", fault.Invalid, "", errors.Join(problems...))
	}
	m.step.Enter(now)
	for i := range specs {
		m.declare(specs[i])
	}
	return m.step.Take(), nil
}

func (m *Model) declare(spec control.Spec) {
	t := m.targets[spec.Point]
	if t == nil {
		t = &target{spec: &spec, frozen: m.overrides.count(spec.Point)}
		m.targets[spec.Point] = t
		m.interlocks.Bind(t.spec)
		return
	}
	m.interlocks.Unbind(t.spec)
	t.spec = &spec
	m.interlocks.Bind(t.spec)
	if t.output == nil {
		return
	}
	for _, c := range t.output.array.all() {
		if !spec.Writable || spec.Fits(c.Value) != nil || m.interlocks.Check(&spec, c.Value) != nil {
			m.end(c, control.CauseRemoved)
		}
	}
	t.output.follow(control.CauseRetry)
}

// Remove removes points. Their commands end without a write, as there is no point to write to.
func (m *Model) Remove(now control.Instant, paths []point.Path) control.Effects {
	m.step.Enter(now)
	for _, path := range paths {
		t := m.targets[path]
		if t == nil {
			continue
		}
		if o := t.output; o != nil {
			for _, c := range o.array.all() {
				m.end(c, control.CauseRemoved)
			}
			m.step.Steady.Stop(&o.timer)
			m.step.Steady.Stop(&o.feedback.timer)
		}
		m.interlocks.Unbind(t.spec)
		delete(m.targets, path)
		m.deviations.forget(path)
		m.step.Touch(step.Point, string(path))
	}
	return m.step.Take()
}

// Observe passes a reading of a point to the model, whatever caused the read; the zero Value means that it
// could not be read. A reading equal to the previous one may be omitted. Readings are what RevertBefore
// restores, what the point's set value is compared with, and what interlocks check: an unknown value refuses
// new commands, and a value outside the required range ends existing ones.
func (m *Model) Observe(now control.Instant, path point.Path, v point.Value) control.Effects {
	m.step.Enter(now)
	if t := m.targets[path]; t != nil {
		known := v.Kind() != point.None
		returned := known && t.away
		if t.away = !known; known {
			t.observed = v
		}
		if t.output != nil {
			t.output.feedback.observe(v, returned)
		}
	}
	for _, bound := range m.interlocks.Observe(path, v) {
		m.targets[bound].trip()
	}
	return m.step.Take()
}

// Answer passes the outcome of a write to the model. An outcome that belongs to no write in progress is ignored: that write
// was answered before, or dates from before a restart.
//
// By the kind of error: Rejected, Refused, Invalid and NotFound end a command that the device has never accepted, whose level
// is then as it was before; make any other value be retried now and then; and leave a point as it is that cannot be released.
// An error of another kind with Declined, such as from a busy device, ends a command if it is the outcome of its first write.
// Timeout, Canceled, Internal and Corrupt leave it unknown whether the device accepted the write, and the point is read. Every
// other kind makes it be retried after a growing pause, or when the point can be read again. A failure is reported once for
// each kind of error, and then once a day.
//
// If a device declined a value and has lost the previous one, that is written again: the value of the command that now wins,
// or otherwise the value that the point had before it was commanded. If that is declined for good too, the point is read,
// which makes it a mismatch if it has another value, and it is written again at the intervals of assertions.
func (m *Model) Answer(now control.Instant, path point.Path, result control.Outcome) control.Effects {
	m.step.Enter(now)
	t := m.targets[path]
	if t != nil && t.output != nil && result.Write != 0 && t.output.write.sent.ID == result.Write {
		t.output.write.outcome(&result)
	}
	return m.step.Take()
}
