package outstation

import (
	"errors"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
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
		return written(w, w.Attribute(uint32(it.set), attributeNames, r.attributeList(it.set)))
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
	walk := walk{events: r.events, slots: it.slots, classes: it.classes}
	for ; it.limit > 0; it.limit-- {
		ev := walk.next()
		if ev == nil {
			return true
		}
		if err := r.writeEvent(w, ev, &p, it.variation); err != nil && !written(w, err) {
			return false
		}
		walk.take(ev)
	}
	return true
}

func (r *reader) writeEvent(w *app.Writer, ev *event, p *object.Point, variation uint8) error {
	t := &traitsTable[ev.slot]
	if ev.slot == slotString {
		return w.StringEvent(t.event.Group(), uint32(ev.index), r.events.texts[ev.bits])
	}
	if variation == 0 {
		variation = ev.variation
	}
	v := object.Of(t.event.Group(), variation)
	ev.point(p)
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
	table := r.outstation.database.tables[it.slot]
	for ; it.from < it.to && it.limit > 0; it.from++ {
		point := &table[it.from]
		if it.class0 && point.hidden {
			continue
		}
		if !written(w, r.writeRecord(w, it, point)) {
			return false
		}
		it.limit--
	}
	return true
}

func (r *reader) writeRecord(w *app.Writer, it *item, point *record) error {
	t := &traitsTable[it.slot]
	switch it.slot {
	case slotTime:
		return w.StaticTime(uint32(point.index), point.indexedTime())
	case slotString:
		text, set := r.outstation.database.texts[uint32(point.index)]
		if !set {
			text = r.outstation.noText
		}
		return w.String(t.static.Group(), uint32(point.index), text)
	default:
	}
	variation := it.variation
	if variation == 0 {
		variation = point.static
	}
	flat, plain := t.withFlags(variation)
	if plain && point.flags != object.FlagOnline {
		variation = flat // what has no flags must not hide that a point is not just online
	}
	err := w.Static(object.Of(t.static.Group(), variation), point.point())
	if plain && errors.Is(err, object.ErrValue) {
		return w.Static(object.Of(t.static.Group(), flat), point.point()) // limited, and over range
	}
	return err
}

func (r *reader) writeDeadbands(w *app.Writer, it *item) bool {
	table := r.outstation.database.tables[it.slot]
	v := object.Of(object.G34V1.Group(), it.variation)
	if it.variation == 0 {
		v = object.G34V3
	}
	for ; it.from < it.to && it.limit > 0; it.from++ {
		p := object.Point{Index: uint32(table[it.from].index), Value: object.Float(table[it.from].deadband)}
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
