package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// event is a change of a point that a master has not confirmed yet, in 24 octets without
// pointers; the text of an octet string is kept beside it.
type event struct {
	bits      uint64 // of the value, or the number of a text
	time      uint64 // packed by stamp
	index     uint16
	flags     object.Flags // or the status, for commands
	variation uint8
	slot      slot
	kind      object.ValueKind
	class     uint8 // 0–2
	state     eventState
}

type eventState uint8

const (
	eventWaiting   eventState = iota
	eventSent                 // in a fragment that is not confirmed yet
	eventGone                 // confirmed
	eventWithdrawn            // waits again, and may have arrived: its report was ended before a confirmation could come
)

// point writes the event into a point that is used again and again.
func (e *event) point(p *object.Point) {
	p.Value, p.Index = object.ValueOf(e.kind, e.bits), uint32(e.index)
	p.Time = unstamp(e.time)
	p.Flags, p.Status = e.flags, 0
	if e.slot.command() {
		p.Flags, p.Status = 0, object.Status(e.flags)
	}
}

// events are the event buffers of a session: one queue for all kinds, in the order the
// events came, with a bound for each kind. Events that are gone leave gaps until they
// come to the front or the queue has to grow.
type events struct {
	buf      []event // a ring
	head     int
	n        int // entries in use, with gaps
	live     int // entries that are not gone
	kept     [slots]int32
	limits   [slots]int32
	oldest   [slots]int32 // no event of the kind stands before this entry
	waiting  [3]int       // by class
	sent     int
	texts    map[uint64][]byte
	lastText uint64
	overflow bool // events were lost and the master has not confirmed that it knows
	told     bool // the fragment that waits for its confirmation says so
}

func newEvents(limits map[object.Kind]int) events {
	var e events
	for s := range slots {
		e.limits[s] = defaultEvents
		if limit, ok := limits[traitsTable[s].kind]; ok {
			e.limits[s] = int32(limit)
		}
	}
	return e
}

func (e *events) at(i int) *event {
	if i += e.head; i >= len(e.buf) {
		i -= len(e.buf)
	}
	return &e.buf[i]
}

// trim drops what is gone from the front.
func (e *events) trim() {
	n := 0
	for n < e.n && e.at(n).state == eventGone {
		n++
	}
	if n == 0 {
		return
	}
	if e.head += n; e.head >= len(e.buf) {
		e.head -= len(e.buf)
	}
	e.n -= n
	for s := range e.oldest {
		e.oldest[s] = max(0, e.oldest[s]-int32(n))
	}
}

// Sizes of the queue in events.
const (
	firstEvents = 16
	stepEvents  = 1024 // up to which it doubles
)

// grow closes the gaps, and takes more memory if there are few.
func (e *events) grow() {
	size := max(len(e.buf), firstEvents)
	if e.live > len(e.buf)*3/4 {
		size = max(size, len(e.buf)+min(len(e.buf), max(len(e.buf)/2, stepEvents)))
	}
	buf := make([]event, 0, size)
	for i := range e.n {
		if ev := e.at(i); ev.state != eventGone {
			buf = append(buf, *ev)
		}
	}
	e.n, e.head, e.oldest = len(buf), 0, [slots]int32{}
	e.buf = buf[:size]
}

// add keeps an event; the oldest of its kind makes room if there is none.
func (e *events) add(s slot, r *record, p *object.Point, text []byte) {
	if e.kept[s] >= e.limits[s] {
		if e.limits[s] == 0 {
			return
		}
		e.dropOldest(s)
		e.overflow, e.told = true, false
	}
	if e.n == len(e.buf) {
		e.grow()
	}
	class := classNumber(r.class)
	*e.at(e.n) = event{
		bits: p.Value.Bits(), kind: p.Value.Kind(), time: stamp(p.Time), index: r.index, flags: p.Flags,
		slot: s, class: uint8(class), variation: r.event,
	}
	if s >= slotString {
		e.addOther(e.at(e.n), p, text)
	}
	e.n++
	e.live++
	e.kept[s]++
	e.waiting[class]++
}

// addOther completes an event that is not that of a value.
func (e *events) addOther(ev *event, p *object.Point, text []byte) {
	if ev.slot.command() {
		ev.flags = object.Flags(p.Status)
		return
	}
	if e.texts == nil {
		e.texts = make(map[uint64][]byte)
	}
	e.lastText++
	e.texts[e.lastText] = text
	ev.bits = e.lastText
}

// dropOldest makes room for an event of a kind that has at least one.
func (e *events) dropOldest(s slot) {
	for i := int(e.oldest[s]); i < e.n; i++ {
		if ev := e.at(i); ev.slot == s && ev.state != eventGone {
			e.oldest[s] = int32(i) + 1
			e.forget(ev)
			break
		}
	}
	e.trim()
}

// forget makes an event gone.
func (e *events) forget(ev *event) {
	if ev.state == eventSent {
		e.sent--
	} else {
		e.waiting[ev.class]--
	}
	ev.state = eventGone
	e.live--
	e.kept[ev.slot]--
	if ev.slot == slotString {
		delete(e.texts, ev.bits)
	}
}

// any reports whether events of the classes wait.
func (e *events) any(classes app.Classes) bool { return e.count(classes) > 0 }

// count returns how many events of the classes wait.
func (e *events) count(classes app.Classes) int {
	n := 0
	for class, waiting := range e.waiting {
		if classes&(app.Class1<<class) != 0 {
			n += waiting
		}
	}
	return n
}

// iin returns the indications of events that wait or were lost.
func (e *events) iin() app.IIN {
	var iin app.IIN
	for class, n := range e.waiting {
		if n > 0 {
			iin |= classIIN(class)
		}
	}
	if e.overflow {
		iin |= app.IINOverflow
	}
	return iin
}

// confirm forgets what was sent and returns how many events that were.
func (e *events) confirm() int {
	n := e.sent
	if e.told {
		e.overflow, e.told = false, false
	}
	for i, left := 0, n; i < e.n && left > 0; i++ {
		ev := e.at(i)
		if ev.state != eventSent {
			continue
		}
		ev.state = eventGone
		e.kept[ev.slot]--
		if ev.slot == slotString {
			delete(e.texts, ev.bits)
		}
		left--
	}
	e.live -= n
	e.sent = 0
	e.trim()
	return n
}

// putBack makes what was sent wait again.
func (e *events) putBack() { e.back(eventWaiting) }

// withdraw makes what was sent wait again, unless a confirmation of it is under way: see arrived.
func (e *events) withdraw() { e.back(eventWithdrawn) }

// arrived forgets what was withdrawn and not sent anew since, and returns how many events that were.
func (e *events) arrived() int {
	n := 0
	for i := range e.n {
		if ev := e.at(i); ev.state == eventWithdrawn {
			e.forget(ev)
			n++
		}
	}
	e.trim()
	return n
}

func (e *events) back(to eventState) {
	e.told = false
	for i := 0; i < e.n && e.sent > 0; i++ {
		if ev := e.at(i); ev.state == eventSent {
			ev.state = to
			e.waiting[ev.class]++
			e.sent--
		}
	}
}

// walk visits waiting events of several kinds in the order they came.
type walk struct {
	events  *events
	slots   slotSet
	classes app.Classes
	at      int
}

// next returns the event at which the walk stands, nil at the end.
func (w *walk) next() *event {
	for ; w.at < w.events.n; w.at++ {
		ev := w.events.at(w.at)
		if (ev.state == eventWaiting || ev.state == eventWithdrawn) && w.slots.has(ev.slot) && w.classes&(app.Class1<<ev.class) != 0 {
			return ev
		}
	}
	return nil
}

// take marks the event that next returned as sent and steps on.
func (w *walk) take(ev *event) {
	ev.state = eventSent
	w.events.sent++
	w.events.waiting[ev.class]--
	w.at++
}
