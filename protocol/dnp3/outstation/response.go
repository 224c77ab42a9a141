package outstation

import (
	"errors"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/attribute"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/event"
)

// write writes as much of an item as fits and reports whether that was all.
func (r *reader) write(w *app.Writer, it *item, now time.Time) bool {
	switch it.source {
	case fromEvents:
		return r.writeEvents(w, it)
	case fromTable:
		return r.writeTable(w, it)
	case fromDeadbands:
		return r.writeDeadbands(w, it)
	case fromAttributes:
		return r.writeAttributes(w, it)
	case fromAttributeList:
		return written(w, w.Attribute(uint32(it.set), attribute.Names, r.outstation.attributes.List(it.set, r.outstation.callbacks.WriteAttribute != nil)))
	case fromClock:
		return written(w, w.Time(object.G50V1, object.TimestampOf(now)))
	default:
		return r.writeIndications(w)
	}
}

// fill writes as much of the plan as fits.
func (r *reader) fill(w *app.Writer, now time.Time) {
	for len(r.plan) > 0 && r.write(w, &r.plan[0], now) {
		r.plan = r.plan[1:]
	}
	if len(r.plan) == 0 {
		r.plan = nil
	}
}

// written reports whether an object is dealt with: an object that does not even fit
// into an empty fragment, or cannot be expressed, is left out.
func written(w *app.Writer, err error) bool {
	const head = 4
	return !isFull(err) || len(w.Bytes()) == head
}

// writeEvents writes waiting events in the order they came.
func (r *reader) writeEvents(w *app.Writer, it *item) bool {
	var p object.Point
	walk := r.events.Walk(it.slots, it.classes)
	for ; it.limit > 0; it.limit-- {
		ev := walk.Next()
		if ev == nil {
			return true
		}
		if err := r.writeEvent(w, ev, &p, it.variation); err != nil && !written(w, err) {
			return false
		}
		walk.Take(ev)
	}
	return true
}

func (r *reader) writeEvent(w *app.Writer, ev *event.Event, p *object.Point, variation uint8) error {
	t := database.TraitsOf(ev.Slot)
	if ev.Slot == database.String {
		return w.StringEvent(t.Event.Group(), uint32(ev.Index), r.events.Text(ev))
	}
	if variation == 0 {
		variation = ev.Variation
	}
	v := object.Of(t.Event.Group(), variation)
	ev.Point(p)
	err := w.Point(v, p)
	if err != nil && errors.Is(err, object.ErrTime) {
		return commonTime(w, v, p)
	}
	return err
}

// commonTime writes the base of relative times (g51) and then the event.
func commonTime(w *app.Writer, v object.Variation, p *object.Point) error {
	base := object.G51V1
	if p.Time.Quality != object.TimeAbsolute {
		base = object.G51V2
	}
	if err := w.Time(base, p.Time); err != nil {
		return err
	}
	return w.Point(v, p)
}

// writeTable writes current values.
func (r *reader) writeTable(w *app.Writer, it *item) bool {
	table := r.outstation.database.Table(it.slot)
	for ; it.from < it.to && it.limit > 0; it.from++ {
		point := &table[it.from]
		if it.class0 && point.Hidden {
			continue
		}
		if !written(w, r.writeRecord(w, it, point)) {
			return false
		}
		it.limit--
	}
	return true
}

func (r *reader) writeRecord(w *app.Writer, it *item, point *database.Record) error {
	t := database.TraitsOf(it.slot)
	switch it.slot {
	case database.Time:
		return w.StaticTime(uint32(point.Index), point.IndexedTime())
	case database.String:
		text, set := r.outstation.database.Text(uint32(point.Index))
		if !set {
			text = r.outstation.noText
		}
		return w.String(t.Static.Group(), uint32(point.Index), text)
	default:
	}
	variation := it.variation
	if variation == 0 {
		variation = point.Static
	}
	flat, plain := t.WithFlags(variation)
	if plain && point.Flags != object.FlagOnline {
		variation = flat // what has no flags must not hide that a point is not just online
	}
	err := w.Static(object.Of(t.Static.Group(), variation), point.Point())
	if plain && errors.Is(err, object.ErrValue) {
		return w.Static(object.Of(t.Static.Group(), flat), point.Point()) // limited, and over range
	}
	return err
}

func (r *reader) writeDeadbands(w *app.Writer, it *item) bool {
	table := r.outstation.database.Table(it.slot)
	v := object.Of(object.G34V1.Group(), it.variation)
	if it.variation == 0 {
		v = object.G34V3
	}
	for ; it.from < it.to && it.limit > 0; it.from++ {
		p := object.Point{Index: uint32(table[it.from].Index), Value: object.Float(table[it.from].Deadband)}
		if !written(w, w.Static(v, p)) {
			return false
		}
		it.limit--
	}
	return true
}

func (r *reader) writeIndications(w *app.Writer) bool {
	iin := r.indications.iin()
	for bit := range uint32(16) {
		on := iin&(1<<bit) != 0
		if !written(w, w.Static(object.G80V1, object.Point{Index: bit, Value: object.Bool(on)})) {
			return false
		}
	}
	return true
}

func (r *reader) writeAttributes(w *app.Writer, it *item) bool {
	for ; it.from < it.to; it.from++ {
		a, ok := r.outstation.attributes[it.set][uint8(it.from)]
		if ok && !written(w, w.Attribute(uint32(it.set), uint8(it.from), a)) {
			return false
		}
	}
	return true
}
