package event

import (
	"fmt"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
)

// Event is a change of a point that a master has not confirmed yet, in 24 octets without
// pointers; the text of an octet string is kept beside it.
type Event struct {
	bits      uint64 // of the value, or the number of a text
	time      uint64 // packed by database.Stamp
	Index     uint16
	flags     object.Flags // or the status, for commands
	Variation uint8
	Slot      database.Slot
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

// Point writes the event into a point that is used again and again.
func (e *Event) Point(p *object.Point) {
	p.Value, p.Index = object.ValueOf(e.kind, e.bits), uint32(e.Index)
	p.Time = database.Unstamp(e.time)
	p.Flags, p.Status = e.flags, 0
	if e.Slot.Command() {
		p.Flags, p.Status = 0, object.Status(e.flags)
	}
}

// Buffer holds the events for one master: one queue for all kinds, in the order the
// events came, with a bound for each kind. Events that are gone leave gaps until they
// come to the front or the queue has to grow.
type Buffer struct {
	buf      []Event // a ring
	head     int
	n        int // entries in use, with gaps
	live     int // entries that are not gone
	kept     [database.Slots]int32
	limits   [database.Slots]int32
	oldest   [database.Slots]int32 // no event of the kind stands before this entry
	waiting  [3]int                // by class
	sent     int
	texts    map[uint64][]byte
	lastText uint64
	overflow bool // events were lost and the master has not confirmed that it knows
	told     bool // the fragment that waits for its confirmation says so
}

// Bounds of the events of a kind.
const (
	DefaultLimit = 1000
	MaxLimit     = 1 << 24
)

// NewBuffer returns an empty buffer with bounds by kind; DefaultLimit bounds those that are not named.
func NewBuffer(limits map[object.Kind]int) Buffer {
	var e Buffer
	for s := range database.Slots {
		e.limits[s] = DefaultLimit
		if limit, ok := limits[database.TraitsOf(s).Kind]; ok {
			e.limits[s] = int32(limit)
		}
	}
	return e
}

func (e *Buffer) at(i int) *Event {
	if i += e.head; i >= len(e.buf) {
		i -= len(e.buf)
	}
	return &e.buf[i]
}

// trim drops what is gone from the front.
func (e *Buffer) trim() {
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
func (e *Buffer) grow() {
	size := max(len(e.buf), firstEvents)
	if e.live > len(e.buf)*3/4 {
		size = max(size, len(e.buf)+min(len(e.buf), max(len(e.buf)/2, stepEvents)))
	}
	buf := make([]Event, 0, size)
	for i := range e.n {
		if ev := e.at(i); ev.state != eventGone {
			buf = append(buf, *ev)
		}
	}
	e.n, e.head, e.oldest = len(buf), 0, [database.Slots]int32{}
	e.buf = buf[:size]
}

// Add keeps an event; the oldest of its kind makes room if there is none.
func (e *Buffer) Add(s database.Slot, r *database.Record, p *object.Point, text []byte) {
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
	class := classNumber(r.Class)
	*e.at(e.n) = Event{
		bits: p.Value.Bits(), kind: p.Value.Kind(), time: database.Stamp(p.Time), Index: r.Index, flags: p.Flags,
		Slot: s, class: uint8(class), Variation: r.Event,
	}
	if s >= database.String {
		e.addOther(e.at(e.n), p, text)
	}
	e.n++
	e.live++
	e.kept[s]++
	e.waiting[class]++
}

// addOther completes an event that is not that of a value.
func (e *Buffer) addOther(ev *Event, p *object.Point, text []byte) {
	if ev.Slot.Command() {
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
func (e *Buffer) dropOldest(s database.Slot) {
	for i := int(e.oldest[s]); i < e.n; i++ {
		if ev := e.at(i); ev.Slot == s && ev.state != eventGone {
			e.oldest[s] = int32(i) + 1
			e.forget(ev)
			break
		}
	}
	e.trim()
}

// forget makes an event gone.
func (e *Buffer) forget(ev *Event) {
	if ev.state == eventSent {
		e.sent--
	} else {
		e.waiting[ev.class]--
	}
	ev.state = eventGone
	e.live--
	e.kept[ev.Slot]--
	if ev.Slot == database.String {
		delete(e.texts, ev.bits)
	}
}

// Any reports whether events of the classes wait.
func (e *Buffer) Any(classes app.Classes) bool { return e.Count(classes) > 0 }

// Count returns how many events of the classes wait.
func (e *Buffer) Count(classes app.Classes) int {
	n := 0
	for class, waiting := range e.waiting {
		if classes&(app.Class1<<class) != 0 {
			n += waiting
		}
	}
	return n
}

// IIN returns the indications of events that wait or were lost.
func (e *Buffer) IIN() app.IIN {
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

// Confirm forgets what was sent and returns how many events that were.
func (e *Buffer) Confirm() int {
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
		e.kept[ev.Slot]--
		if ev.Slot == database.String {
			delete(e.texts, ev.bits)
		}
		left--
	}
	e.live -= n
	e.sent = 0
	e.trim()
	return n
}

// PutBack makes what was sent wait again.
func (e *Buffer) PutBack() { e.back(eventWaiting) }

// Withdraw makes what was sent wait again, unless a confirmation of it is under way: see Arrived.
func (e *Buffer) Withdraw() { e.back(eventWithdrawn) }

// Arrived forgets what was withdrawn and not sent anew since, and returns how many events that were.
func (e *Buffer) Arrived() int {
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

func (e *Buffer) back(to eventState) {
	e.told = false
	for i := 0; i < e.n && e.sent > 0; i++ {
		if ev := e.at(i); ev.state == eventSent {
			ev.state = to
			e.waiting[ev.class]++
			e.sent--
		}
	}
}

// Sent returns how many events are in fragments that are not confirmed yet.
func (e *Buffer) Sent() int { return e.sent }

// Tell notes that the fragment that is sent now says whether events were lost.
func (e *Buffer) Tell() { e.told = e.overflow }

// Text returns the text of an event of an octet string.
func (e *Buffer) Text(ev *Event) []byte { return e.texts[ev.bits] }

// Check compares the counts with the events that are there, for tests.
func (e *Buffer) Check() error {
	var waiting [3]int
	sent := 0
	var kept [database.Slots]int32
	live := 0
	for i := range e.n {
		ev := e.at(i)
		switch ev.state {
		case eventWaiting, eventWithdrawn:
			waiting[ev.class]++
		case eventSent:
			sent++
		case eventGone:
			continue
		}
		kept[ev.Slot]++
		live++
	}
	if live != e.live || kept != e.kept {
		return fmt.Errorf("%d events by kind %v, the counts say %d and %v", live, kept, e.live, e.kept)
	}
	if waiting != e.waiting || sent != e.sent {
		return fmt.Errorf("%v wait and %d are sent, the counts say %v and %d", waiting, sent, e.waiting, e.sent)
	}
	return nil
}

// Walk visits the waiting events of some kinds and classes.
func (e *Buffer) Walk(slots database.Set, classes app.Classes) Walk {
	return Walk{events: e, slots: slots, classes: classes}
}

// Walk visits waiting events of several kinds in the order they came.
type Walk struct {
	events  *Buffer
	slots   database.Set
	classes app.Classes
	at      int
}

// Next returns the event at which the walk stands, nil at the end.
func (w *Walk) Next() *Event {
	for ; w.at < w.events.n; w.at++ {
		ev := w.events.at(w.at)
		if (ev.state == eventWaiting || ev.state == eventWithdrawn) && w.slots.Has(ev.Slot) && w.classes&(app.Class1<<ev.class) != 0 {
			return ev
		}
	}
	return nil
}

// Take marks the event that Next returned as sent and steps on.
func (w *Walk) Take(ev *Event) {
	ev.state = eventSent
	w.events.sent++
	w.events.waiting[ev.class]--
	w.at++
}

// classNumber returns 0, 1, 2 for an event class.
func classNumber(c app.Classes) int {
	switch c {
	case app.Class1:
		return 0
	case app.Class2:
		return 1
	default:
		return 2
	}
}

// classIIN returns the indication that events of the class wait.
func classIIN(class int) app.IIN { return app.IINClass1 << class }
