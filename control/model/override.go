package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/control/step"
	"voltbus/fault"
	"voltbus/point"
)

// override is an override in force.
type override struct {
	control.Override
	overrides *overrides
	order     uint64
	since     time.Time
	ends      time.Duration // on the steady clock; 0: until cleared
	timer     step.Timer
}

// Due ends an override.
func (o *override) Due() { o.overrides.lift(o, control.CauseExpired) }

func (o *override) holder() control.Holder {
	h := control.Holder{Requester: o.Requester, Path: point.Path(o.Pattern), From: o.since, Reason: o.Reason}
	if o.ends > 0 {
		h.Until = o.overrides.m.step.Now.At(o.ends)
	}
	return h
}

// overrides holds the overrides in force.
type overrides struct {
	m         *Model
	byPattern map[point.Pattern]*override
}

// examine refuses a malformed override, or one too many.
func (all *overrides) examine(o *control.Override) (control.Decision, bool) {
	const op = "Override"
	limits, subject := &all.m.step.Limits, string(o.Pattern)
	if err := limits.Named("requester", o.Requester); err != nil {
		return control.Refuse(op, control.WhyInvalid, fault.Invalid, subject, err), false
	}
	if err := limits.Named("pattern", subject); err != nil {
		return control.Refuse(op, control.WhyInvalid, fault.Invalid, "", fmt.Errorf("%w; ** is every point", err)), false
	}
	tooLong := limits.Explained(o.Reason)
	switch {
	case o.Length < 0 || o.Length > control.MaxLength:
		return control.Refuse(op, control.WhyLease, fault.Invalid, subject, fmt.Errorf(
			"a length of %v is out of range; write a duration of at most %v, or none", o.Length, control.MaxLength)), false
	case tooLong != nil:
		return control.Refuse(op, control.WhyInvalid, fault.Invalid, subject, tooLong), false
	case all.byPattern[o.Pattern] == nil && len(all.byPattern) >= limits.Overrides:
		return control.Refuse(op, control.WhyFull, fault.Unavailable, subject, fmt.Errorf("there are %d overrides; clear some first", len(all.byPattern))), false
	}
	return control.Decision{}, true
}

// start starts an override, or prolongs the one with the same pattern: the longer end wins.
func (all *overrides) start(asked control.Override) control.Decision {
	s := all.m.step
	o := all.byPattern[asked.Pattern]
	if o == nil {
		o = all.impose(asked)
	} else if o.ends > 0 && (asked.Length == 0 || s.Now.Steady+asked.Length > o.ends) {
		o.Requester, o.Reason = asked.Requester, asked.Reason
		all.last(o, asked.Length)
	}
	if asked.Failsafe {
		o.Failsafe = true
		all.secure(o)
	}
	s.Touch(step.Override, string(o.Pattern))
	s.Event(control.Event{Kind: control.OverrideStarted, Holder: o.holder(), Cause: control.CauseOverride})
	return control.Decision{Status: control.Accepted, Until: o.holder().Until}
}

// impose puts an override into force.
func (all *overrides) impose(given control.Override) *override {
	s := all.m.step
	o := &override{Override: given, overrides: all, order: s.NextOrder(), since: s.Now.Wall.UTC()}
	all.byPattern[o.Pattern] = o
	all.last(o, o.Length)
	for _, t := range all.m.targets {
		if o.Pattern.Match(t.spec.Point) {
			if t.frozen++; t.output != nil {
				all.m.deviations.judge(t.output)
			}
		}
	}
	return o
}

// last sets the end of an override.
func (all *overrides) last(o *override, length time.Duration) {
	s := all.m.step
	o.Length, o.ends = length, 0
	s.Steady.Stop(&o.timer)
	if length > 0 {
		o.ends = s.Now.Steady + length
		s.Steady.Set(&o.timer, o, int64(o.ends))
	}
}

// secure ends every command of the points, and reverts them.
func (all *overrides) secure(o *override) {
	for _, t := range all.m.matching(o.Pattern) {
		if !t.spec.Writable {
			continue
		}
		out := t.commanded(all.m)
		for _, c := range out.array.all() {
			all.m.remove(c, control.CauseOverride)
		}
		out.reverting, out.undo, out.failsafe, out.insist = true, false, true, true
		out.touch()
		out.follow(control.CauseOverride)
	}
}

// lift ends an override; its points follow their commands again.
func (all *overrides) lift(o *override, cause control.Cause) {
	s := all.m.step
	s.Steady.Stop(&o.timer)
	delete(all.byPattern, o.Pattern)
	s.Touch(step.Override, string(o.Pattern))
	s.Event(control.Event{Kind: control.OverrideEnded, Holder: o.holder(), Cause: cause})
	for _, t := range all.m.matching(o.Pattern) {
		t.frozen--
		if t.output != nil {
			t.output.insist = true
			t.output.follow(control.CauseOverride)
		}
	}
}

// count returns how many overrides hold a point.
func (all *overrides) count(path point.Path) (n int) {
	for pattern := range all.byPattern {
		if pattern.Match(path) {
			n++
		}
	}
	return n
}

// on returns the overrides of a point, oldest first.
func (all *overrides) on(path point.Path) []control.Holder {
	var list []control.Holder
	for _, o := range all.sorted() {
		if o.Pattern.Match(path) {
			list = append(list, o.holder())
		}
	}
	return list
}

// Overridden returns the overrides, oldest first.
func (all *overrides) Overridden() []control.Holder {
	var list []control.Holder
	for _, o := range all.sorted() {
		list = append(list, o.holder())
	}
	return list
}

// sorted returns the overrides in the order of creation.
func (all *overrides) sorted() []*override {
	return slices.SortedFunc(maps.Values(all.byPattern), func(a, b *override) int { return cmp.Compare(a.order, b.order) })
}

// overrideState is an override with its times.
type overrideState struct {
	Requester string        `json:"requester"`
	Reason    string        `json:"reason,omitempty"`
	Length    time.Duration `json:"length,omitempty"`
	Failsafe  bool          `json:"failsafe,omitempty"`
	Order     uint64        `json:"order"`
	Since     time.Time     `json:"since"`
	Until     time.Time     `json:"until,omitzero"`
}

func (all *overrides) touchAll() {
	for pattern := range all.byPattern {
		all.m.step.Touch(step.Override, string(pattern))
	}
}

// record encodes an override; nil if it has ended.
func (all *overrides) record(pattern point.Pattern) ([]byte, error) {
	o := all.byPattern[pattern]
	if o == nil {
		return nil, nil
	}
	return json.Marshal(overrideState{
		Requester: o.Requester, Reason: o.Reason, Length: o.Length, Failsafe: o.Failsafe,
		Order: o.order, Since: o.since, Until: o.holder().Until,
	})
}

func (all *overrides) restore(pattern point.Pattern, data []byte) error {
	var s overrideState
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if all.byPattern[pattern] != nil || s.Length < 0 || s.Length > control.MaxLength {
		return errors.New("the override is there twice, or has no length that there can be")
	}
	o := all.impose(control.Override{Pattern: pattern, Requester: s.Requester, Reason: s.Reason, Failsafe: s.Failsafe})
	o.order, o.since = s.Order, s.Since
	if s.Length > 0 {
		o.Length, o.ends = s.Length, all.m.step.Now.EndOf(s.Length, s.Until)
		all.m.step.Steady.Set(&o.timer, o, int64(o.ends))
	}
	return nil
}
