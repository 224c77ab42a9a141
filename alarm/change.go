package alarm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/point"
)

// act is who changes an alarm, when and with which words.
type act struct {
	at   int64
	by   string
	note string
	text string // the value
}

// change changes an alarm, and records the transition.
func (e *states) change(a *Alarm, what Event, by act, do func()) {
	from, was := a.State(), a.inAlarm()
	do()
	a.settle()
	if is := a.inAlarm(); is != was {
		e.groups[a.Group] += map[bool]int{true: 1, false: -1}[is]
	}
	if e.groups[a.Group] <= 0 {
		delete(e.groups, a.Group)
	}
	if by.at == 0 {
		by.at = e.now
	}
	t := Transition{
		Alarm: a.ID, Rule: a.Rule, Point: a.Point, Event: what, From: from, To: a.State(), At: moment(by.at), By: by.by, Note: by.note,
		Priority: a.Priority, Text: a.Text, Value: by.text, First: a.First,
	}
	if t.Annunciated() {
		e.flood.add(e.now)
	}
	e.out = append(e.out, t)
	e.keep(a)
}

// keep has an alarm kept, or forgotten if it is idle.
func (e *states) keep(a *Alarm) {
	e.changed[a.ID] = struct{}{}
	if a.Idle() {
		delete(e.live, a.ID)
		return
	}
	e.live[a.ID] = a
}

// Annunciated reports whether the transition calls for an operator.
func (t *Transition) Annunciated() bool {
	return t.To == Unacknowledged && t.From != Unacknowledged
}

// inAlarm reports whether it is active or waits for an operator, also if nobody is told.
func (a *Alarm) inAlarm() bool { return a.Active || a.Latched || a.waits() }

// settle makes normal what is over and seen, or what nobody was told of.
func (a *Alarm) settle() {
	if !a.Active && !a.Latched && (a.Seen || a.kept()) {
		a.Seen, a.Count, a.First = false, 0, false
		a.SeenBy, a.SeenAt = "", time.Time{}
	}
}

// alarmOf returns the alarm of an instance, and makes it if it was idle.
func (e *Engine) alarmOf(i *instance) *Alarm {
	if i.alarm == nil {
		id := IDOf(i.rule.Name, i.at.path)
		i.alarm = &Alarm{
			ID: id, Rule: i.rule.Name, Point: i.at.path, Priority: i.rule.Priority, Text: i.text(), Limit: i.rule.words(), Group: filled(i.rule.Group, i.at.path),
		}
	}
	return i.alarm
}

// text says what is wrong.
func (i *instance) text() string {
	if i.rule.Message != "" {
		return filled(i.rule.Message, i.at.path)
	}
	return string(i.at.path) + " " + filled(i.rule.words(), i.at.path)
}

// open opens an alarm.
func (e *Engine) open(i *instance, at int64) {
	a := e.alarmOf(i)
	e.begin(a, act{at: at, text: i.value()})
}

func (e *states) begin(a *Alarm, by act) {
	e.change(a, EventOpened, by, func() {
		a.First = a.Group != "" && e.groups[a.Group] == 0
		a.Active, a.Seen, a.Latched = true, false, false
		a.SeenBy, a.SeenAt, a.Note = "", time.Time{}, ""
		a.Since, a.Value = moment(by.at), by.text
		a.Count++
	})
}

func (i *instance) value() string {
	if i.rule.condition != nil {
		return i.inputWords()
	}
	if !i.at.known {
		return ""
	}
	return i.at.value.String()
}

// end ends the condition of an alarm.
func (e *Engine) end(i *instance, at int64) {
	e.finish(i.alarm, i.rule.Latching, act{at: at, text: i.value()})
}

func (e *states) finish(a *Alarm, latching bool, by act) {
	e.change(a, EventReturned, by, func() {
		a.Active, a.Latched = false, latching
		a.Since = moment(by.at)
	})
}

// suppress suppresses an alarm by design, or ends that, by the value of another point.
func (e *Engine) suppress(i *instance, at int64) {
	is := among(i.gate.value, i.rule.SuppressValues)
	if is == (i.alarm != nil && i.alarm.Design) {
		return
	}
	a, what := e.alarmOf(i), EventUnsuppressed
	if is {
		what = EventSuppressed
	}
	e.change(a, what, act{at: at}, func() { a.Design = is; a.back() })
}

// back has an alarm that is annunciated again seen anew.
func (a *Alarm) back() {
	if a.Active && !a.kept() {
		a.Seen, a.SeenBy, a.SeenAt = false, "", time.Time{}
	}
}

var (
	errNone    = errors.New("there is no such alarm; list the alarms and the rules")
	errNormal  = errors.New("it is not in alarm, so there is nothing to acknowledge")
	errLatched = errors.New("it is not latched; an alarm that is active ends when its condition is over")
	errActive  = errors.New("its condition still holds; reset it when that is over")
	errUnseen  = errors.New("nobody has acknowledged it; acknowledge it first")
	errShelf   = errors.New("it is not shelved")
	errUntil   = fmt.Errorf("write a time in the future, at most %d days ahead", int(MaxShelf/(24*time.Hour)))
	errService = errors.New("it is not out of service")
)

// MaxShelf is for how long an alarm is shelved at most.
const MaxShelf = 31 * 24 * time.Hour

// known returns an alarm that there is, idle or not.
func (e *states) known(op string, id ID) (*Alarm, error) {
	if a := e.live[id]; a != nil {
		return a, nil
	}
	if a := e.idle(id); a != nil {
		return a, nil
	}
	return nil, fault.E(op, fault.NotFound, string(id), errNone)
}

// Acknowledge says that an operator has seen an alarm. fault.Conflict names who was first.
func (e *states) Acknowledge(now int64, id ID, by, note string) error {
	const op = "alarm.Acknowledge"
	e.advance(now)
	a := e.live[id]
	switch {
	case a == nil && e.idle(id) == nil:
		return fault.E(op, fault.NotFound, string(id), errNone)
	case a == nil || !a.inAlarm():
		return fault.E(op, fault.Conflict, string(id), errNormal)
	case a.Seen:
		return fault.E(op, fault.Conflict, string(id), fmt.Errorf("%s acknowledged it at %s", a.SeenBy, a.SeenAt.Format(time.DateTime+" UTC")))
	}
	e.change(a, EventAcknowledged, act{by: by, note: note}, func() {
		a.Seen, a.SeenBy, a.SeenAt, a.Note = true, by, moment(e.now), note
	})
	return nil
}

// Reset ends a latched alarm that was acknowledged.
func (e *states) Reset(now int64, id ID, by, note string) error {
	const op = "alarm.Reset"
	e.advance(now)
	a := e.live[id]
	switch {
	case a == nil && e.idle(id) == nil:
		return fault.E(op, fault.NotFound, string(id), errNone)
	case a != nil && a.Active:
		return fault.E(op, fault.Conflict, string(id), errActive)
	case a == nil || !a.Latched:
		return fault.E(op, fault.Conflict, string(id), errLatched)
	case !a.Seen:
		return fault.E(op, fault.Conflict, string(id), errUnseen)
	}
	e.change(a, EventReset, act{by: by, note: note}, func() { a.Latched, a.Note = false, note })
	return nil
}

// Shelve keeps an alarm from being annunciated until a time.
func (e *states) Shelve(now int64, id ID, until time.Time, by, note string) error {
	e.advance(now)
	if d := until.Sub(moment(e.now)); d <= 0 || d > MaxShelf {
		return fault.E("alarm.Shelve", fault.Invalid, "until", errUntil)
	}
	a, err := e.known("alarm.Shelve", id)
	if err != nil {
		return err
	}
	e.change(a, EventShelved, act{by: by, note: note}, func() {
		a.Shelf, a.ShelfBy, a.Note = until.UTC().Truncate(time.Microsecond), by, note
	})
	e.timeShelf(a)
	return nil
}

// Unshelve has a shelved alarm annunciated again.
func (e *states) Unshelve(now int64, id ID, by, note string) error {
	e.advance(now)
	a := e.live[id]
	if a == nil || a.Shelf.IsZero() {
		return fault.E("alarm.Unshelve", fault.Conflict, string(id), errShelf)
	}
	e.unshelve(a, EventUnshelved, act{by: by, note: note})
	return nil
}

func (e *states) unshelve(a *Alarm, what Event, by act) {
	e.change(a, what, by, func() { a.Shelf, a.ShelfBy = time.Time{}, ""; a.back() })
}

func (e *states) timeShelf(a *Alarm) {
	if !a.Shelf.IsZero() {
		e.timers.add(timer{due: a.Shelf.UnixMicro(), shelf: a.ID})
	}
}

func (e *states) expireShelf(id ID) {
	if a := e.live[id]; a != nil && !a.Shelf.IsZero() && a.Shelf.UnixMicro() <= e.now {
		e.unshelve(a, EventShelfExpired, act{at: a.Shelf.UnixMicro()})
	}
}

// Remove takes an alarm out of service, until Restore.
func (e *states) Remove(now int64, id ID, by, note string) error {
	e.advance(now)
	a, err := e.known("alarm.Remove", id)
	if err != nil || a.Out {
		return err
	}
	e.change(a, EventRemoved, act{by: by, note: note}, func() { a.Out, a.OutBy, a.Note = true, by, note })
	return nil
}

// Restore puts an alarm back in service.
func (e *states) Restore(now int64, id ID, by, note string) error {
	e.advance(now)
	a := e.live[id]
	if a == nil || !a.Out {
		return fault.E("alarm.Restore", fault.Conflict, string(id), errService)
	}
	e.change(a, EventRestored, act{by: by, note: note}, func() { a.Out, a.OutBy = false, ""; a.back() })
	return nil
}

// External is an alarm that no rule raises, such as the alert of an agent.
type External struct {
	Agent    string
	Key      string
	Priority Priority
	Text     string
	Since    time.Time
}

const externalMark = "agent:"

// ID returns the name of the alarm.
func (x *External) ID() ID { return ExternalID(x.Agent, x.Key) }

// ExternalID returns the name of the alarm of an agent's alert.
func ExternalID(agent, key string) ID { return ID(externalMark + agent + "@" + key) }

// Source returns whose alert an alarm is; false if it is of a rule.
func (id ID) Source() (agent, key string, is bool) {
	rest, is := strings.CutPrefix(string(id), externalMark)
	agent, key, _ = strings.Cut(rest, "@")
	return agent, key, is
}

// Raise opens an alarm that no rule raises, or changes its words.
func (e *states) Raise(now int64, x External) {
	e.advance(now)
	a := e.live[x.ID()]
	if a == nil {
		a = &Alarm{ID: x.ID(), Rule: externalMark + x.Agent, Point: point.Path(x.Key), External: true}
	}
	if a.Active {
		if a.Text != x.Text || a.Priority != x.Priority {
			a.Text, a.Priority = x.Text, x.Priority
			e.keep(a)
		}
		return
	}
	a.Text, a.Priority = x.Text, x.Priority
	e.begin(a, act{at: min(x.Since.UnixMicro(), e.now)})
}

// Return ends the condition of an alarm that no rule raises.
func (e *states) Return(now int64, id ID) {
	e.advance(now)
	if a := e.live[id]; a != nil && a.External && a.Active {
		e.finish(a, false, act{at: e.now})
	}
}

// ReturnOthers ends the condition of all alarms that no rule raises, but those listed.
func (e *states) ReturnOthers(now int64, there map[ID]bool) {
	for _, id := range slices.Sorted(maps.Keys(e.live)) {
		if e.live[id].External && !there[id] {
			e.Return(now, id)
		}
	}
}
