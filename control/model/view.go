package model

import (
	"maps"
	"slices"
	"time"

	"voltbus/control"
	"voltbus/point"
)

// View returns the state of a point; false if it is unknown.
func (m *Model) View(path point.Path) (control.View, bool) {
	t := m.targets[path]
	if t == nil {
		return control.View{}, false
	}
	v := control.View{Spec: *t.spec, Output: control.Idle, Observed: t.observed}
	if t.frozen > 0 {
		v.Overrides = m.overrides.on(path)
	}
	if active, is := m.reservations.Active(path); is {
		v.Window = &active
	}
	if t.output != nil {
		t.output.view(&v)
	}
	return v, true
}

// view adds the state of the output.
func (o *output) view(v *control.View) {
	for _, c := range o.array.commands {
		v.Array = append(v.Array, control.Slot{Holder: c.holder(), Value: c.Value})
	}
	want, commanded := o.commanded("")
	v.Commanded, v.Reverting, v.Output, v.Held, v.Reported = want.Value, o.reverting, o.state, o.held, o.reported
	v.Place = o.placed.Place
	v.Failures, v.FailedWith, v.FailedKind = o.write.failures, o.write.text, o.write.kind
	if o.target.away && (o.state == control.Confirmed || o.state == control.Differs || o.state == control.Mismatch) {
		v.Output, v.Reported = control.Unknown, point.Value{} // memory is no evidence
	}
	if commanded && (v.Output == control.Confirmed || v.Output == control.Differs) && (want.Release || !o.target.spec.Alike(o.held, want.Value)) {
		v.Output = control.Waiting
	}
	if o.timer.IsSet() {
		v.Later = o.m.step.Now.At(time.Duration(o.timer.At()))
	}
}

// Requesters returns the requesters that have commands, reservations or something pending approval, by name.
func (m *Model) Requesters() []string {
	names := make(map[string]struct{}, len(m.byRequester))
	for name := range m.byRequester {
		names[name] = struct{}{}
	}
	for _, name := range m.reservations.Requesters() {
		names[name] = struct{}{}
	}
	for r := range m.proposals {
		names[r.Requester] = struct{}{}
	}
	return slices.Sorted(maps.Keys(names))
}

// Tasks returns the reservations, oldest first.
func (m *Model) Tasks() []control.Task { return m.reservations.Tasks() }
