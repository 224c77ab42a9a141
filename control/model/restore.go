package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/state"
	"voltbus/fault"
	"voltbus/point"
)

// record encodes the state of the output.
func (o *output) record() state.Point {
	now, f := o.m.step.Now, &o.feedback
	s := state.Point{
		Before: state.Value{Value: o.before}, Reverting: o.reverting, Failsafe: o.failsafe, Undo: o.undo, Partial: o.partial, Output: o.state,
		Placement: o.placed, Held: state.Value{Value: o.held}, Reported: state.Value{Value: o.reported}, Text: o.write.text,
	}
	if sent := &o.write.sent; sent.ID != 0 {
		s.Sent = &state.Write{
			ID: sent.ID, Value: state.Value{Value: sent.Value}, Release: sent.Release, Read: sent.Read, Level: sent.Level,
			Cause: sent.Cause, Requester: sent.Requester, Command: sent.Command,
		}
	}
	if o.changedAt > 0 {
		s.Changed = now.At(o.changedAt)
	}
	if o.turnedAt > 0 {
		s.Turned = now.At(o.turnedAt)
	}
	if f.assertPause > 0 {
		s.AssertAt, s.AssertPause = now.At(f.assertAt), f.assertPause
	}
	if s.Told = f.reported; f.reportPause > 0 {
		s.SayAt, s.SayPause = now.At(f.reportAt), f.reportPause
	}
	for _, c := range o.array.commands {
		s.Commands = append(s.Commands, c.record())
	}
	return s
}

func (c *command) record() state.Command {
	now := c.output.m.step.Now
	s := state.OfCommand(&c.Command, c.order, c.since, time.Time{})
	if c.ends > 0 {
		s.Until = now.At(c.ends)
	}
	if c.revert.at > 0 {
		s.Reverts, s.Reverter = now.At(c.revert.at), c.revert.by
	}
	s.Fresh, s.Returns = c.fresh, c.replaced.reverting
	if c.replaced.prior != nil {
		prior := c.replaced.prior.record()
		s.Prior = &prior
	}
	return s
}

// point loads the record of a point.
func (m records) point(path point.Path, data []byte) error {
	var s state.Point
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	t := m.targets[path]
	if t != nil && t.output != nil {
		return errors.New("the point is there twice")
	}
	gone := t == nil || !t.spec.Writable
	if gone {
		t = &target{spec: &control.Spec{Point: path}}
	}
	o := t.commanded(m.Model)
	o.restore(&s)
	for i := range s.Commands {
		if err := o.restoreCommand(&s.Commands[i]); err != nil {
			return err
		}
	}
	slices.SortFunc(o.array.commands, func(a, b *command) int { return cmp.Compare(a.Level, b.Level) })
	for _, c := range o.array.all() {
		if gone {
			m.end(c, control.CauseRemoved)
		}
	}
	return nil
}

// restore loads the state of the output.
func (o *output) restore(s *state.Point) {
	now := o.m.step.Now
	o.before, o.reverting, o.failsafe, o.state = s.Before.Value, s.Reverting, s.Failsafe, s.Output
	o.undo, o.partial, o.placed = s.Undo, s.Partial, s.Placement
	o.held, o.reported, o.write.text = s.Held.Value, s.Reported.Value, s.Text
	o.changedAt, o.turnedAt = now.Ago(s.Changed), now.Ago(s.Turned)
	f := &o.feedback
	f.reported = s.Told
	f.assertAt, f.assertPause = restoreBound(now, s.AssertAt, s.AssertPause)
	f.reportAt, f.reportPause = restoreBound(now, s.SayAt, s.SayPause)
	if s.Sent != nil {
		o.interrupted(s.Sent)
	}
	if s.Sent != nil || o.state == control.Writing {
		o.state = control.Unknown
	}
}

// restoreBound schedules the write to a point that lost its value before a restart, and its report, no sooner than without
// one. Whatever the clock says, that is no later than after one pause.
func restoreBound(now control.Instant, at time.Time, pause time.Duration) (time.Duration, time.Duration) {
	if pause <= 0 || at.IsZero() {
		return 0, 0
	}
	return now.Steady + min(at.Sub(now.Wall), pause), pause
}

// interrupted raises an event about a write whose outcome was lost.
func (o *output) interrupted(s *state.Write) {
	if s.Read {
		return
	}
	o.m.step.Event(control.Event{
		Kind: control.WriteUnknown, Cause: s.Cause, Value: s.Value.Value, Write: s.ID, Fault: fault.Timeout, Text: "the node stopped before the answer came",
		Holder: control.Holder{Requester: s.Requester, Command: s.Command, Path: o.target.spec.Point, Level: s.Level},
	})
}

func (o *output) restoreCommand(s *state.Command) error {
	switch {
	case s.Level < 1 || s.Level > control.Levels || o.array.at(s.Level) != nil:
		return fmt.Errorf("two commands have level %d, or there is no such level", s.Level)
	case s.Point != o.target.spec.Point || o.m.byRef[control.Ref{Requester: s.Requester, ID: s.ID}] != nil:
		return fmt.Errorf("the command %q of %s is in the wrong place", s.ID, s.Requester)
	case s.Lease < 0 || s.Lease > control.MaxLength:
		return fmt.Errorf("the command %q has a lease of %v", s.ID, s.Lease)
	}
	c := o.commandOf(s)
	if s.Prior != nil && s.Fresh {
		c.replaced.prior = o.commandOf(s.Prior)
	}
	o.array.commands = append(o.array.commands, c)
	o.m.add(c)
	o.m.arm(c)
	return nil
}

// commandOf restores a stored command, without putting it into effect.
func (o *output) commandOf(s *state.Command) *command {
	now := o.m.step.Now
	c := &command{Command: s.Command(), order: s.Order, since: s.Since, output: o, fresh: s.Fresh, replaced: replaced{reverting: s.Returns}}
	if c.Lease > 0 {
		c.ends = now.EndOf(c.Lease, s.Until)
	}
	if !s.Reverts.IsZero() {
		c.revert = due{now.EndOf(control.MaxSpread, s.Reverts), s.Reverter}
	}
	return c
}
