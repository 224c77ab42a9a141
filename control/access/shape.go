package access

import (
	"time"

	"voltbus/api/answer"
	"voltbus/control"
	"voltbus/point"
)

const maxClip = 300

// clip shortens received text before it is repeated.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	return s[:maxClip] + "…"
}

// moment returns nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func holder(h *control.Holder) answer.Holder {
	return answer.Holder{
		Requester: h.Requester, Task: h.Task, Command: h.Command, Path: string(h.Path), Level: int(h.Level),
		From: moment(h.From), Until: moment(h.Until), Reason: h.Reason, Fence: fence(h.Fence),
	}
}

func fence(f control.Fence) *answer.Fence {
	if f.Group == "" {
		return nil
	}
	return &answer.Fence{Group: f.Group, Term: f.Term, Leader: f.Leader}
}

func holders(list []control.Holder) []answer.Holder {
	out := make([]answer.Holder, len(list))
	for i := range list {
		out[i] = holder(&list[i])
	}
	return out
}

func slots(list []control.Slot) []answer.Slot {
	out := make([]answer.Slot, len(list))
	for i := range list {
		out[i] = answer.Slot{Holder: holder(&list[i].Holder), Value: list[i].Value.AppendJSON(nil)}
	}
	return out
}

func viewed(v *control.View) answer.ControlPoint {
	out := answer.ControlPoint{
		Point: string(v.Spec.Point), Device: string(v.Spec.Device), Description: v.Spec.About, Unit: v.Spec.Unit, Kind: v.Spec.Kind.String(),
		Writable: v.Spec.Writable, Default: v.Spec.Default.AppendJSON(nil), Revert: string(v.Spec.Revert),
		Array: slots(v.Array), InDevice: v.Spec.Array != 0, Overrides: holders(v.Overrides), Commanded: v.Commanded.AppendJSON(nil), Wish: v.Commanded.AppendJSON(nil), Reverting: v.Reverting,
		Output: string(v.Output), Held: v.Held.AppendJSON(nil), Reported: v.Reported.AppendJSON(nil),
		Observed: v.Observed.AppendJSON(nil), Later: moment(v.Later), Failures: v.Failures, FailedWith: v.FailedWith,
	}
	if out.Revert == "" {
		out.Revert = string(control.RevertRelinquish)
	}
	out.Policy = policy(v.Spec.Policy)
	if v.Window != nil {
		h := holder(v.Window)
		out.Window = &h
	}
	return out
}

// policy describes a point's policy; nil if it requires nothing.
func policy(p *control.Policy) *answer.Policy {
	if p == nil {
		return nil
	}
	out := answer.Policy{
		Reservation: p.Reservation, Approval: p.Approval, Longest: p.Longest.Seconds(), Range: limits(p.Range),
		Assert: string(p.Assert), AssertPause: p.AssertPause.Seconds(), Tolerance: p.Tolerance,
		MinOn: p.MinOn.Seconds(), MinOff: p.MinOff.Seconds(),
	}
	if p.Rate != (control.Rate{}) {
		out.Rate = &answer.Rate{Most: p.Rate.Most, Per: p.Rate.Per.Seconds()}
	}
	for _, lock := range p.Interlocks {
		out.Interlocks = append(out.Interlocks, answer.Interlock{
			Guards: limits(lock.Guards), Other: string(lock.Other), Needs: answer.Limits{Min: lock.Needs.Min, Max: lock.Needs.Max},
		})
	}
	return &out
}

// limits returns nil for an unlimited range.
func limits(r control.Range) *answer.Limits {
	if r == (control.Range{}) {
		return nil
	}
	return &answer.Limits{Min: r.Min, Max: r.Max}
}

func windows(list []control.Window) []answer.Window {
	out := make([]answer.Window, len(list))
	for i, w := range list {
		out[i] = answer.Window{Path: string(w.Path), From: w.From.UTC().Format(time.RFC3339Nano), To: w.Until.UTC().Format(time.RFC3339Nano)}
	}
	return out
}

func task(t *control.Task) answer.Task {
	return answer.Task{
		Task: t.Task, Requester: t.Requester, Priority: string(t.Priority), Reason: t.Reason,
		Windows: windows(t.Windows), Active: windows(t.Active), Started: t.Started, Preempted: t.Preempted,
	}
}

func event(e *control.Event, now time.Time) answer.ControlEvent {
	out := answer.ControlEvent{
		Event: string(e.Kind), Holder: holder(&e.Holder), Time: now.UTC(), Cause: string(e.Cause), By: e.By, Write: e.Write, Text: e.Text,
	}
	if e.Value.Kind() != point.None {
		out.Value = e.Value.AppendJSON(nil)
	}
	if e.Commanded.Kind() != point.None {
		out.Commanded = e.Commanded.AppendJSON(nil)
		out.Wish = out.Commanded
	}
	if e.Text != "" {
		out.Fault = e.Fault.String()
	}
	return out
}
