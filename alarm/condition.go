package alarm

import (
	"math"
	"slices"

	"voltbus/alarm/expression"
	"voltbus/point"
)

// evaluate compares the condition with the alarm, as of a time.
func (e *Engine) evaluate(i *instance, at int64) {
	holds, known := i.holds(e.now)
	if !known {
		i.pending = false
		return
	}
	if holds == i.active() {
		i.pending = false
		if due, is := i.stale(); is && !holds {
			e.schedule(i, due)
		}
		return
	}
	if !i.pending {
		i.pending, i.since = true, at
	}
	due := i.since + i.delay()
	if at < due { // a later reading or the time decides
		e.schedule(i, due)
		return
	}
	i.pending = false
	if holds {
		e.open(i, due)
	} else {
		e.end(i, due)
	}
}

func (i *instance) active() bool { return i.alarm != nil && i.alarm.Active }

// delay is how long the condition must be another one before the alarm changes.
func (i *instance) delay() int64 {
	if i.active() {
		return i.rule.offDelay
	}
	return i.rule.onDelay
}

// holds reports whether the condition of the rule holds; not known without readings. What is active stays so within the deadband.
func (i *instance) holds(now int64) (holds, known bool) {
	back := 0.0
	if i.active() {
		back = i.rule.Deadband
	}
	if i.rule.Check == Stale {
		due, is := i.stale()
		return is && now >= due, is
	}
	if i.rule.Check == Condition {
		return i.rule.condition.Holds(func(name string) expression.Value { return i.inputs[name].input(i.rule.longest, now) })
	}
	if !i.at.known {
		return false, false
	}
	if i.rule.Check == Is {
		return among(i.at.value, i.rule.Values), true
	}
	if i.rule.Check == Discrepancy {
		return i.differs(), i.feedback.known
	}
	n, is := i.at.value.Number()
	if !is || math.IsNaN(n) {
		return false, false
	}
	switch i.rule.Check {
	case High:
		return n > i.rule.limit()-back, true
	case Low:
		return n < i.rule.limit()+back, true
	case Rate:
		return i.changes(n, back), i.from.known
	case Stuck:
		return i.at.time-i.from.time >= i.rule.longest, i.from.known
	case Stale, Is, Discrepancy, Condition:
	}
	return false, false
}

// stale returns when the point is stale unless a reading comes; false for rules that do not look for that, and points of unknown intervals.
func (i *instance) stale() (at int64, is bool) {
	if i.rule.Check != Stale {
		return 0, false
	}
	longest := i.rule.longest
	if longest == 0 {
		longest = staleIntervals * i.at.interval
	}
	return i.at.seen + longest, longest > 0
}

// staleIntervals is after how many missing readings a point is stale.
const staleIntervals = 3

// remember keeps what the value is compared with later.
func (i *instance) remember() {
	n, is := i.at.value.Number()
	if !is || math.IsNaN(n) || math.IsInf(n, 0) {
		return
	}
	now := trace{true, i.at.time, n}
	switch i.rule.Check {
	case Stuck:
		if !i.from.known || math.Abs(n-i.from.value) > i.rule.Tolerance {
			i.from = now
		}
	case Rate:
		i.slide(now)
	case High, Low, Stale, Is, Discrepancy, Condition:
	}
}

// slide moves the window of a rate: the value is compared with one that is at least half of the window old, and within it if there is one.
func (i *instance) slide(now trace) {
	switch {
	case !i.from.known:
		i.from, i.next = now, now
	case now.time-i.from.time > i.rule.per && i.next.time > i.from.time:
		i.from, i.next = i.next, now
	case i.next.time == i.from.time && now.time-i.from.time >= i.rule.per/2:
		i.next = now
	}
}

// changes reports whether the value is too far from the one at the beginning of the window, or beyond the window changes too fast.
func (i *instance) changes(n, back float64) bool {
	windows := max(1, float64(i.at.time-i.from.time)/float64(i.rule.per))
	return math.Abs(n-i.from.value) > (i.rule.Change-back)*windows
}

// differs reports whether the value is another one than that of the feedback.
func (i *instance) differs() bool {
	a, numberA := i.at.value.Number()
	b, numberB := i.feedback.value.Number()
	if numberA && numberB {
		return !(math.Abs(a-b) <= i.rule.Tolerance)
	}
	return i.at.value.String() != i.feedback.value.String()
}

// among reports whether a value is one of those listed, as text.
func among(v point.Value, list []string) bool { return slices.Contains(list, v.String()) }
