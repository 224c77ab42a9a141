package alarm

import (
	"fmt"
	"strings"
	"time"

	"voltbus/protocol/bacnet/constructed"
	"voltbus/protocol/bacnet/encoding"
	"voltbus/protocol/bacnet/enum"
	"voltbus/protocol/bacnet/service"
)

// The transitions of clause 13.2.4, in the order of the bits and arrays of the standard.
const (
	toOffnormal = iota
	toFault
	toNormal
	transitions
)

func transitionOf(s enum.EventState) int {
	switch s {
	case enum.EventNormal:
		return toNormal
	case enum.EventFault:
		return toFault
	default:
		return toOffnormal
	}
}

// Event is the event state of an object.
type Event struct {
	Object   encoding.ObjectID
	State    enum.EventState
	Priority uint8     // of the last transition: 0 the most urgent, 255 the least
	Text     string    // of the device; hostile
	Detail   string    // what the algorithm saw, such as "35 is beyond 30"
	Since    time.Time // when the node heard of it

	acked  [transitions]bool
	times  [transitions]constructed.TimeStamp
	states [transitions]enum.EventState // that the transitions led to
}

// Active reports whether the object is not normal.
func (e *Event) Active() bool { return e.State != enum.EventNormal }

// Unacknowledged reports whether a transition waits for somebody to acknowledge it.
func (e *Event) Unacknowledged() bool { return e.acked != [transitions]bool{true, true, true} }

// Acknowledgements are the requests that acknowledge what waits for it (clause 13.5).
func (e *Event) Acknowledgements(process uint32, who string, now time.Time) (list []service.AcknowledgeRequest) {
	for i, acked := range e.acked {
		if !acked {
			list = append(list, service.AcknowledgeRequest{
				Process: process, Object: e.Object, State: e.states[i], Time: e.times[i], Source: who,
				AckTime: constructed.TimeStamp{Choice: constructed.ByDateTime, DateTime: encoding.DateTime{Date: encoding.DateOf(now), Time: encoding.TimeOf(now)}},
			})
		}
	}
	return list
}

// Acknowledged notes that the device has taken an acknowledgement.
func (e *Event) Acknowledged(r service.AcknowledgeRequest) { e.acked[transitionOf(r.State)] = true }

// maxEvents bounds the objects of a device of which something is known: notifications cost their sender nothing.
const maxEvents = 4096

// Table are the events of a device. The zero value has none. It is not safe for concurrent use.
type Table struct{ events map[encoding.ObjectID]*Event }

// Event returns what is known of an object; nil if nothing is.
func (t *Table) Event(id encoding.ObjectID) *Event { return t.events[id] }

// Notify takes a notification. It returns the object's event as it is now; nil if it says nothing new of one, such as the
// acknowledgement of an alarm that nobody knows here.
func (t *Table) Notify(n service.EventNotification, now time.Time) *Event {
	e := t.events[n.Object]
	at := transitionOf(n.To)
	if n.Notify == service.NotifyAck {
		if e == nil || e.acked[at] {
			return nil
		}
		e.acked[at] = true
		return e
	}
	if e == nil {
		if len(t.events) >= maxEvents {
			return nil
		}
		e = &Event{Object: n.Object, acked: [transitions]bool{true, true, true}, Since: now}
		t.put(e)
	}
	if !e.Active() {
		e.Since = now
	}
	e.State, e.Priority, e.Text, e.Detail = n.To, n.Priority, n.Text, detail(n)
	e.acked[at], e.times[at], e.states[at] = !n.AckRequired, n.Time, n.To
	return e
}

func (t *Table) put(e *Event) {
	if t.events == nil {
		t.events = make(map[encoding.ObjectID]*Event)
	}
	t.events[e.Object] = e
}

// Replace takes all objects of the device that are not normal or not acknowledged. Those that are not among them are over.
func (t *Table) Replace(all []service.EventSummary, now time.Time) (list []*Event) {
	before := t.events
	t.events = make(map[encoding.ObjectID]*Event, len(all))
	for i := range all {
		s := &all[i]
		e := &Event{Object: s.Object, State: s.State, Since: now, times: s.Times}
		for k := range e.acked {
			e.acked[k] = s.Acknowledged.Bit(k) || k >= s.Acknowledged.Len()
		}
		e.states = [transitions]enum.EventState{enum.EventOffnormal, enum.EventFault, enum.EventNormal}
		at := transitionOf(s.State)
		e.states[at], e.Priority = s.State, s.Priorities[at]
		if was := before[s.Object]; was != nil {
			e.keep(was)
		}
		t.put(e)
		list = append(list, e)
	}
	return list
}

// keep takes over what a notification said and a summary does not.
func (e *Event) keep(was *Event) {
	if e.State == was.State {
		e.Text, e.Detail, e.Since = was.Text, was.Detail, was.Since
	}
	for k := range e.states {
		if e.times[k] == was.times[k] {
			e.states[k] = was.states[k]
		}
	}
}

// Forget drops an object that is normal and acknowledged.
func (t *Table) Forget(id encoding.ObjectID) { delete(t.events, id) }

// outOfRange is the event type whose parameters are shown (clause 13.3, Table 13-5).
const outOfRange enum.EventType = 5

// detail says what the algorithm saw; "" where that is not known.
func detail(n service.EventNotification) string {
	if n.Type != outOfRange || n.Values == nil {
		return ""
	}
	d := encoding.NewDecoder(n.Values)
	d.Opening(int(outOfRange))
	value := d.Real(0)
	d.Bits(1)
	d.Real(2)
	limit := d.Real(3)
	d.Closing(int(outOfRange))
	if d.End() != nil {
		return ""
	}
	if transitionOf(n.To) == toNormal {
		return fmt.Sprintf("%v is within %v", value, limit)
	}
	return fmt.Sprintf("%v is beyond %v", value, limit)
}

// Sentence says what there is about an object that is called so.
func (e *Event) Sentence(name string) string {
	parts := []string{name + " is " + e.State.String()}
	if e.Detail != "" {
		parts[0] += " (" + e.Detail + ")"
	}
	if e.Text != "" {
		parts = append(parts, strings.ToValidUTF8(e.Text, "\ufffd"))
	}
	if e.Unacknowledged() {
		parts = append(parts, "not acknowledged")
	}
	return strings.Join(parts, "; ")
}
