package outstation

import (
	"math"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// event is a change of a point that a master has not confirmed yet, in 32 octets without
// pointers; the text of an octet string is kept beside it by number.
type event struct {
	bits      uint64 // of the value
	time      uint64 // packed by stamp
	number    uint64 // order of arrival, from 1
	index     uint16
	flags     object.Flags
	variation uint8
	kind      object.ValueKind
	class     uint8 // 0–2
	state     eventState
}

type eventState uint8

const (
	eventWaiting eventState = iota
	eventSent               // in a fragment that is not confirmed yet
	eventGone               // confirmed
)

func (e *event) point() object.Point {
	return object.Point{Value: e.value(), Time: unstamp(e.time), Index: uint32(e.index), Flags: e.flags}
}

// setValue keeps a value in less memory than it takes.
func (e *event) setValue(v object.Value) {
	switch e.kind = v.Kind(); e.kind {
	case object.FloatValue:
		e.bits = math.Float64bits(v.Float())
	case object.SignedValue:
		e.bits = uint64(v.Int())
	default:
		e.bits = v.Uint()
	}
}

func (e *event) value() object.Value {
	switch e.kind {
	case object.BoolValue:
		return object.Bool(e.bits != 0)
	case object.DoubleBitValue:
		return object.Double(object.DoubleBit(e.bits))
	case object.UnsignedValue:
		return object.Unsigned(e.bits)
	case object.SignedValue:
		return object.Signed(int64(e.bits))
	case object.FloatValue:
		return object.Float(math.Float64frombits(e.bits))
	default:
		return object.Value{}
	}
}

// ring is a queue of events of one slot.
type ring struct {
	buf  []event
	head int
	n    int // entries in use, with those that are gone
	live int // entries that are not gone
}

func (r *ring) at(i int) *event {
	if i += r.head; i >= len(r.buf) {
		i -= len(r.buf)
	}
	return &r.buf[i]
}

// trim drops what is gone from the front.
func (r *ring) trim() {
	for r.n > 0 && r.at(0).state == eventGone {
		if r.head++; r.head == len(r.buf) {
			r.head = 0
		}
		r.n--
	}
}

// push makes room, for at most limit events, and returns the new entry.
func (r *ring) push(limit int) *event {
	if r.n == len(r.buf) {
		r.grow(limit)
	}
	r.n++
	r.live++
	return r.at(r.n - 1)
}

const firstRing = 8

// grow closes the gaps, or takes half as much memory more if there are few.
func (r *ring) grow(limit int) {
	size := len(r.buf)
	if r.live > size/2 {
		size = max(min(size+size/2, limit), r.live+1)
	}
	old := *r
	r.buf, r.head, r.n = make([]event, max(min(firstRing, limit), size)), 0, 0
	for i := range old.n {
		if e := old.at(i); e.state != eventGone {
			r.buf[r.n] = *e
			r.n++
		}
	}
}

// events are the event buffers of a session.
type events struct {
	rings    [slots]ring
	limits   [slots]int
	last     uint64 // number of the newest event
	waiting  [3]int // by class
	sent     int
	texts    map[uint64][]byte
	overflow bool // events were lost and the master has not confirmed that it knows
	told     bool // the fragment that waits for its confirmation says so
}

func newEvents(limits map[object.Kind]int) events {
	var e events
	for s := range slots {
		e.limits[s] = defaultEvents
		if limit, ok := limits[traitsTable[s].kind]; ok {
			e.limits[s] = limit
		}
	}
	return e
}

// add keeps an event; the oldest of its kind makes room if there is none.
func (e *events) add(s slot, r *record, p object.Point, text []byte) {
	ring := &e.rings[s]
	if e.limits[s] == 0 {
		return
	}
	if ring.live >= e.limits[s] {
		e.dropOldest(ring)
		e.overflow, e.told = true, false
	}
	e.last++
	class := classNumber(r.class)
	ev := ring.push(e.limits[s])
	*ev = event{
		time: stamp(p.Time), number: e.last, index: uint16(p.Index), flags: p.Flags,
		class: uint8(class), variation: r.event,
	}
	ev.setValue(p.Value)
	e.waiting[class]++
	if s == slotString {
		if e.texts == nil {
			e.texts = make(map[uint64][]byte)
		}
		e.texts[e.last] = text
	}
}

func (e *events) dropOldest(r *ring) {
	r.trim()
	if r.n == 0 {
		return
	}
	e.forget(r, r.at(0))
	r.trim()
}

// forget makes an event gone.
func (e *events) forget(r *ring, ev *event) {
	if ev.state == eventSent {
		e.sent--
	} else {
		e.waiting[ev.class]--
	}
	ev.state = eventGone
	r.live--
	if e.texts != nil {
		delete(e.texts, ev.number)
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
	for s := range e.rings {
		r := &e.rings[s]
		for i := 0; i < r.n && e.sent > 0; i++ {
			if ev := r.at(i); ev.state == eventSent {
				e.forget(r, ev)
			}
		}
		r.trim()
	}
	return n
}

// putBack makes what was sent wait again.
func (e *events) putBack() {
	e.told = false
	for s := range e.rings {
		r := &e.rings[s]
		for i := 0; i < r.n && e.sent > 0; i++ {
			if ev := r.at(i); ev.state == eventSent {
				ev.state = eventWaiting
				e.waiting[ev.class]++
				e.sent--
			}
		}
	}
}

// walk visits waiting events of several kinds in the order they came.
type walk struct {
	events  *events
	slots   slotSet
	classes app.Classes
	at      [slots]int
	heads   [slots]uint64 // number of the next event of each slot
}

const noEvent = math.MaxUint64

func (e *events) walk(set slotSet, classes app.Classes) walk {
	w := walk{events: e, classes: classes}
	for s := range slots {
		if !set.has(s) || e.rings[s].live == 0 {
			continue
		}
		if w.seek(s); w.heads[s] != noEvent {
			w.slots |= s.set()
		}
	}
	return w
}

// seek finds the next event of a slot, from where the walk stands.
func (w *walk) seek(s slot) {
	r := &w.events.rings[s]
	for ; w.at[s] < r.n; w.at[s]++ {
		ev := r.at(w.at[s])
		if ev.state == eventWaiting && w.classes&(app.Class1<<ev.class) != 0 {
			w.heads[s] = ev.number
			return
		}
	}
	w.heads[s] = noEvent
}

// next returns the oldest event, nil at the end.
func (w *walk) next() (slot, *event) {
	best, number := slots, uint64(noEvent)
	for s := range slots {
		if w.slots.has(s) && w.heads[s] < number {
			best, number = s, w.heads[s]
		}
	}
	if best == slots {
		return slots, nil
	}
	return best, w.events.rings[best].at(w.at[best])
}

// take marks the event that next returned as sent and steps on.
func (w *walk) take(s slot, ev *event) {
	ev.state = eventSent
	w.events.sent++
	w.events.waiting[ev.class]--
	w.at[s]++
	w.seek(s)
}
