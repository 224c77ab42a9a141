package outstation

import (
	"errors"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// respond sends the next fragment of the answer to a read.
func (s *Session) respond(now time.Time, sequence app.Sequence, first bool, out *station.Output) {
	buffer := out.Pool().Borrow()
	w := app.NewResponse(buffer.Octets, 0, app.FuncResponse, 0)
	for len(s.plan) > 0 && s.write(&w, &s.plan[0], now) {
		s.plan = s.plan[1:]
	}
	control := app.Control(sequence)
	if first {
		control |= app.FIR
	}
	if len(s.plan) == 0 {
		control |= app.FIN
		s.plan = nil
	}
	if s.events.sent > 0 || s.plan != nil || s.broadcast == broadcastConfirm {
		control |= app.CON
	}
	w.SetControl(control)
	w.SetIIN(s.refused | s.iin())
	buffer.Octets = w.Bytes()
	out.Send(buffer.Octets)
	if !control.Confirm() {
		s.broadcast = broadcastNone
		out.Pool().Return(buffer)
		return
	}
	s.events.told = s.events.overflow
	s.response = response{buffer: buffer, sequence: sequence, due: now.Add(s.config.ConfirmTimeout)}
}

// write writes as much of an item as fits and reports whether that was all.
func (s *Session) write(w *app.Writer, it *item, now time.Time) bool {
	switch it.source {
	case fromEvents:
		return s.writeEvents(w, it)
	case fromTable:
		return s.writeTable(w, it)
	case fromDeadbands:
		return s.writeDeadbands(w, it)
	case fromAttributes:
		return s.writeAttributes(w, it)
	case fromAttributeList:
		return s.written(w, w.Attribute(uint32(it.set), attributeNames, s.attributeList(it.set)))
	case fromClock:
		return s.written(w, w.Time(object.G50V1, object.TimestampOf(now)))
	default:
		return s.writeIndications(w)
	}
}

// written reports whether an object is dealt with: an object that does not even fit
// into an empty fragment, or cannot be expressed, is left out.
func (s *Session) written(w *app.Writer, err error) bool {
	const head = 4
	return !isFull(err) || len(w.Bytes()) == head
}

// writeEvents writes waiting events in the order they came.
func (s *Session) writeEvents(w *app.Writer, it *item) bool {
	var p object.Point
	walk := walk{events: &s.events, slots: it.slots, classes: it.classes}
	for ; it.limit > 0; it.limit-- {
		ev := walk.next()
		if ev == nil {
			return true
		}
		if err := s.writeEvent(w, ev, &p, it.variation); err != nil && !s.written(w, err) {
			return false
		}
		walk.take(ev)
	}
	return true
}

func (s *Session) writeEvent(w *app.Writer, ev *event, p *object.Point, variation uint8) error {
	t := &traitsTable[ev.slot]
	if ev.slot == slotString {
		return w.StringEvent(t.event.Group(), uint32(ev.index), s.events.texts[ev.bits])
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
func (s *Session) writeTable(w *app.Writer, it *item) bool {
	table := s.outstation.database.tables[it.slot]
	for ; it.from < it.to && it.limit > 0; it.from++ {
		r := &table[it.from]
		if it.class0 && r.hidden {
			continue
		}
		if !s.written(w, s.writeRecord(w, it, r)) {
			return false
		}
		it.limit--
	}
	return true
}

func (s *Session) writeRecord(w *app.Writer, it *item, r *record) error {
	t := &traitsTable[it.slot]
	switch it.slot {
	case slotTime:
		return w.StaticTime(uint32(r.index), r.indexedTime())
	case slotString:
		text, set := s.outstation.database.texts[uint32(r.index)]
		if !set {
			text = s.outstation.noText
		}
		return w.String(t.static.Group(), uint32(r.index), text)
	default:
	}
	variation := it.variation
	if variation == 0 {
		variation = r.static
	}
	flat, plain := t.withFlags(variation)
	if plain && r.flags != object.FlagOnline {
		variation = flat // what has no flags must not hide that a point is not just online
	}
	err := w.Static(object.Of(t.static.Group(), variation), r.point())
	if plain && errors.Is(err, object.ErrValue) {
		return w.Static(object.Of(t.static.Group(), flat), r.point()) // limited, and over range
	}
	return err
}

func (s *Session) writeDeadbands(w *app.Writer, it *item) bool {
	table := s.outstation.database.tables[it.slot]
	v := object.Of(object.G34V1.Group(), it.variation)
	if it.variation == 0 {
		v = object.G34V3
	}
	for ; it.from < it.to && it.limit > 0; it.from++ {
		p := object.Point{Index: uint32(table[it.from].index), Value: object.Float(table[it.from].deadband)}
		if !s.written(w, w.Static(v, p)) {
			return false
		}
		it.limit--
	}
	return true
}

func (s *Session) writeIndications(w *app.Writer) bool {
	iin := s.iin()
	for bit := range uint32(16) {
		on := iin&(1<<bit) != 0
		if !s.written(w, w.Static(object.G80V1, object.Point{Index: bit, Value: object.Bool(on)})) {
			return false
		}
	}
	return true
}
