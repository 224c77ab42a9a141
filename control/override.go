package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// Override takes points out of control: no command reaches them while it lasts.
type Override struct {
	ID        string // unique for its requester; "" if repeats do not matter
	Pattern   point.Pattern
	Requester string
	Reason    string
	Length    time.Duration // 0: until it is cleared
	// Failsafe ends every command of the points and reverts them first. Without it they stay as they
	// are, commands wait, and the points follow them when the override ends.
	Failsafe bool
}

// override is one that lasts.
type override struct {
	Override
	order uint64
	since time.Time
	ends  time.Duration // on the steady clock; 0: until cleared
	alarm alarm
}

// ring ends an override.
func (o *override) ring(m *Model) { m.lift(o, CauseExpired) }

func (o *override) holder(m *Model) Holder {
	h := Holder{Requester: o.Requester, Path: point.Path(o.Pattern), From: o.since, Reason: o.Reason}
	if o.ends > 0 {
		h.Until = m.now.at(o.ends)
	}
	return h
}

// Override starts an override, or prolongs the one with the same pattern: the longer end wins. It
// looks at every point, so it takes milliseconds where there are 100,000.
func (m *Model) Override(now Instant, o Override) Decision {
	m.enterAs(now, o.Requester)
	mark := fingerprint(string(o.Pattern), o.Reason, o.Length.String(), strconv.FormatBool(o.Failsafe))
	return m.leave(m.once(ref{o.Requester, o.ID}, mark, func() Decision {
		if d, ok := m.overridable(&o); !ok {
			return d
		}
		old := m.overrides[o.Pattern]
		if old == nil {
			old = m.impose(o)
		} else if old.ends > 0 && (o.Length == 0 || m.now.Steady+o.Length > old.ends) {
			old.Requester, old.Reason = o.Requester, o.Reason
			m.last(old, o.Length)
		}
		if o.Failsafe {
			old.Failsafe = true
			m.secure(old)
		}
		m.touch(recordOverride, string(o.Pattern))
		m.event(Event{Kind: OverrideStarted, Holder: old.holder(m), Cause: CauseOverride})
		return Decision{Status: Accepted, Until: old.holder(m).Until}
	}))
}

func (m *Model) overridable(o *Override) (Decision, bool) {
	const op = "Override"
	subject := string(o.Pattern)
	if err := m.named("requester", o.Requester); err != nil {
		return refuse(op, WhyInvalid, fault.Invalid, subject, err), false
	}
	if err := m.named("pattern", subject); err != nil {
		return refuse(op, WhyInvalid, fault.Invalid, "", fmt.Errorf("%w; ** is every point", err)), false
	}
	switch {
	case o.Length < 0 || o.Length > maxLength:
		return refuse(op, WhyLease, fault.Invalid, subject, fmt.Errorf(
			"a length of %v is out of range; write a duration of at most %v, or none", o.Length, maxLength)), false
	case len(o.Reason) > m.limits.Text:
		return refuse(op, WhyInvalid, fault.Invalid, subject, fmt.Errorf("the reason has %d bytes; write at most %d", len(o.Reason), m.limits.Text)), false
	case m.overrides[o.Pattern] == nil && len(m.overrides) >= m.limits.Overrides:
		return refuse(op, WhyFull, fault.Unavailable, subject, fmt.Errorf("there are %d overrides; clear some first", len(m.overrides))), false
	}
	return Decision{}, true
}

// impose makes an override.
func (m *Model) impose(given Override) *override {
	o := &override{Override: given, order: m.nextOrder(), since: m.now.Wall.UTC()}
	m.overrides[o.Pattern] = o
	m.last(o, o.Length)
	for _, t := range m.targets {
		if o.Pattern.Match(t.spec.Point) {
			if t.frozen++; t.work != nil {
				m.judge(t)
			}
		}
	}
	return o
}

// last sets when an override ends.
func (m *Model) last(o *override, length time.Duration) {
	o.Length, o.ends = length, 0
	m.steady.stop(&o.alarm)
	if length > 0 {
		o.ends = m.now.Steady + length
		m.steady.set(&o.alarm, o, int64(o.ends))
	}
}

// secure ends every command of the points, and reverts them.
func (m *Model) secure(o *override) {
	for _, t := range m.matching(o.Pattern) {
		if !t.spec.Writable {
			continue
		}
		w := t.working()
		for _, c := range slices.Clone(w.commands) {
			m.forget(c, CauseOverride)
		}
		w.reverting, w.undo, w.failsafe, w.insist = true, false, true, true
		m.touch(recordPoint, string(t.spec.Point))
		m.settle(t, CauseOverride)
	}
}

// matching returns the points that a pattern selects, by path.
func (m *Model) matching(pattern point.Pattern) []*target {
	var chosen []*target
	for _, t := range m.targets {
		if pattern.Match(t.spec.Point) {
			chosen = append(chosen, t)
		}
	}
	slices.SortFunc(chosen, func(a, b *target) int { return strings.Compare(string(a.spec.Point), string(b.spec.Point)) })
	return chosen
}

// ClearOverride ends an override, whoever made it; by is who does it.
func (m *Model) ClearOverride(now Instant, pattern point.Pattern, by string) Decision {
	m.enterAs(now, by)
	o := m.overrides[pattern]
	if o == nil {
		return m.leave(refuse("ClearOverride", WhyUnknown, fault.NotFound, string(pattern), errors.New(
			"there is no override with this pattern; write it exactly as in the list of overrides")))
	}
	m.lift(o, CauseReleased)
	return m.leave(Decision{Status: Accepted})
}

// lift ends an override; its points follow their commands again.
func (m *Model) lift(o *override, cause Cause) {
	m.steady.stop(&o.alarm)
	delete(m.overrides, o.Pattern)
	m.touch(recordOverride, string(o.Pattern))
	m.event(Event{Kind: OverrideEnded, Holder: o.holder(m), Cause: cause})
	for _, t := range m.matching(o.Pattern) {
		t.frozen--
		if t.work != nil {
			t.work.insist = true
			m.settle(t, CauseOverride)
		}
	}
}

// sortedOverrides returns the overrides in the order of their making.
func (m *Model) sortedOverrides() []*override {
	return slices.SortedFunc(maps.Values(m.overrides), func(a, b *override) int { return cmp.Compare(a.order, b.order) })
}
