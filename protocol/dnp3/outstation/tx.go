package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// Mode says when an update makes an event.
type Mode uint8

// Modes of an update.
const (
	// Detect makes an event when the flags changed or the value moved by more than the
	// dead-band.
	Detect Mode = iota
	// Force makes an event in any case.
	Force
	// Suppress makes none.
	Suppress
)

// Tx changes the database of an [Outstation]. It is valid only during the function it
// is given to.
type Tx struct {
	outstation *Outstation
}

// Set changes a point: p.Index names it, p.Value, p.Flags and p.Time are its new state.
// Points without a class make no events. It returns false if there is no such point.
func (tx *Tx) Set(kind object.Kind, p object.Point, mode Mode) bool {
	s := slotOf(kind)
	if s >= slotString {
		return false
	}
	r := tx.outstation.database.find(s, p.Index)
	if r == nil {
		return false
	}
	tx.outstation.put(s, r, &p, mode)
	return true
}

// SetString changes an octet string of 1–255 octets, or none if the configuration allows
// that, which it copies. It returns false if there is no such point or the text has
// another length.
func (tx *Tx) SetString(index uint32, text []byte, mode Mode) bool {
	o := tx.outstation
	r := o.database.find(slotString, index)
	if r == nil || len(text) == 0 && o.noText != nil || len(text) > 255 {
		return false
	}
	changed := string(o.database.texts[index]) != string(text)
	if changed {
		if o.database.texts == nil {
			o.database.texts = make(map[uint32][]byte)
		}
		o.database.texts[index] = append([]byte(nil), text...)
	}
	if r.class != 0 && (mode == Force || mode == Detect && changed) {
		o.report(slotString, r, &object.Point{Index: index}, o.database.texts[index])
	}
	return true
}

// SetTime changes a repeating time (g50v4). It returns false if there is no such point or
// its start is more than 48 bits of milliseconds.
func (tx *Tx) SetTime(index uint32, t object.IndexedTime) bool {
	r := tx.outstation.database.find(slotTime, index)
	if r == nil || t.Start.Milliseconds > object.MaxMilliseconds {
		return false
	}
	r.setTime(t)
	return true
}

// Time returns a repeating time, false if there is no such point.
func (tx *Tx) Time(index uint32) (object.IndexedTime, bool) {
	r := tx.outstation.database.find(slotTime, index)
	if r == nil {
		return object.IndexedTime{}, false
	}
	return r.indexedTime(), true
}

// Get returns the current state of a point, false if there is none.
func (tx *Tx) Get(kind object.Kind, index uint32) (object.Point, bool) {
	s := slotOf(kind)
	if s >= slotString {
		return object.Point{}, false
	}
	r := tx.outstation.database.find(s, index)
	if r == nil {
		return object.Point{}, false
	}
	return r.point(), true
}

// Class returns the event class and dead-band of a point, which masters may change;
// false if there is no such point.
func (tx *Tx) Class(kind object.Kind, index uint32) (class app.Classes, deadband float64, ok bool) {
	s := slotOf(kind)
	if s >= slots {
		return 0, 0, false
	}
	r := tx.outstation.database.find(s, index)
	if r == nil {
		return 0, 0, false
	}
	return r.class, r.deadband, true
}

// put stores a value and makes the event that belongs to it.
func (o *Outstation) put(s slot, r *record, p *object.Point, mode Mode) {
	makes := r.class != 0 && (mode == Force || mode == Detect && r.exceeds(p))
	r.bits, r.kind, r.flags, r.time = p.Value.Bits(), p.Value.Kind(), p.Flags, stamp(p.Time)
	if makes {
		r.reported = p.Value.Float()
		o.report(s, r, p, nil)
	}
}

// report gives an event to every session.
func (o *Outstation) report(s slot, r *record, p *object.Point, text []byte) {
	for _, session := range o.sessions {
		session.events.add(s, r, p, text)
		session.fresh = true
	}
}
