package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
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
	s := database.SlotOf(kind)
	if s >= database.String {
		return false
	}
	r := tx.outstation.database.Find(s, p.Index)
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
	r := o.database.Find(database.String, index)
	if r == nil || len(text) == 0 && o.noText != nil || len(text) > 255 {
		return false
	}
	changed := o.database.SetText(index, text)
	if r.Class != 0 && (mode == Force || mode == Detect && changed) {
		stored, _ := o.database.Text(index)
		o.report(database.String, r, &object.Point{Index: index}, stored)
	}
	return true
}

// SetTime changes a repeating time (g50v4). It returns false if there is no such point or
// its start is more than 48 bits of milliseconds.
func (tx *Tx) SetTime(index uint32, t object.IndexedTime) bool {
	r := tx.outstation.database.Find(database.Time, index)
	if r == nil || t.Start.Milliseconds > object.MaxMilliseconds {
		return false
	}
	r.SetTime(t)
	return true
}

// Time returns a repeating time, false if there is no such point.
func (tx *Tx) Time(index uint32) (object.IndexedTime, bool) {
	r := tx.outstation.database.Find(database.Time, index)
	if r == nil {
		return object.IndexedTime{}, false
	}
	return r.IndexedTime(), true
}

// Get returns the current state of a point, false if there is none.
func (tx *Tx) Get(kind object.Kind, index uint32) (object.Point, bool) {
	s := database.SlotOf(kind)
	if s >= database.String {
		return object.Point{}, false
	}
	r := tx.outstation.database.Find(s, index)
	if r == nil {
		return object.Point{}, false
	}
	return r.Point(), true
}

// Class returns the event class and dead-band of a point, which masters may change;
// false if there is no such point.
func (tx *Tx) Class(kind object.Kind, index uint32) (class app.Classes, deadband float64, ok bool) {
	s := database.SlotOf(kind)
	if s >= database.Slots {
		return 0, 0, false
	}
	r := tx.outstation.database.Find(s, index)
	if r == nil {
		return 0, 0, false
	}
	return r.Class, r.Deadband, true
}

// put stores a value and makes the event that belongs to it.
func (o *Outstation) put(s database.Slot, r *database.Record, p *object.Point, mode Mode) {
	makes := r.Class != 0 && (mode == Force || mode == Detect && r.Exceeds(p))
	r.Store(p)
	if makes {
		r.SetReported(p.Value)
		o.report(s, r, p, nil)
	}
}

// report gives an event to every session.
func (o *Outstation) report(s database.Slot, r *database.Record, p *object.Point, text []byte) {
	for _, session := range o.sessions {
		session.events.Add(s, r, p, text)
		session.fresh = true
	}
}
