package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/station"
)

// freezing is a freeze at a time that a master ordered (FC 11).
type freezing struct {
	at       time.Time
	interval time.Duration // 0 for once
	target   target
}

// target is what a freeze is about: positions of a table.
type target struct {
	slot     database.Slot
	from, to int
}

// maxFreezes bounds the orders that are kept; the oldest one makes room.
const maxFreezes = 16

// freezeTarget reads the header of what is to be frozen.
func (o *Outstation) freezeTarget(h app.Header) (target, app.IIN) {
	at := database.SlotOf(h.Variation.Kind())
	if at == database.Slots || h.Variation.Event() || database.TraitsOf(at).Frozen == database.Slots {
		return target{}, app.IINObjectUnknown
	}
	if len(o.database.Table(at)) == 0 {
		return target{}, app.IINObjectUnknown
	}
	from, to, ok := o.database.Span(h, at)
	if !ok {
		return target{}, app.IINParameterError
	}
	return target{slot: at, from: from, to: to}, 0
}

// freezeRequest handles FC 7 to 10.
func (o *Outstation) freezeRequest(now time.Time, f app.Fragment) app.IIN {
	clears := f.Function == app.FuncFreezeClear || f.Function == app.FuncFreezeClearNoAck
	if len(f.Objects) == 0 {
		return app.IINParameterError
	}
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		t, iin := o.freezeTarget(h)
		if iin != 0 {
			return iin
		}
		o.freeze(now, t, clears)
	}
	return 0
}

// freeze copies current values to the frozen points of the same index.
func (o *Outstation) freeze(now time.Time, t target, clears bool) {
	frozen := database.TraitsOf(t.slot).Frozen
	stamp := object.TimestampOf(now)
	for i := t.from; i < t.to; i++ {
		r := &o.database.Table(t.slot)[i]
		if into := o.database.Find(frozen, uint32(r.Index)); into != nil {
			o.put(frozen, into, &object.Point{Value: r.Value(), Time: stamp, Index: uint32(r.Index), Flags: r.Flags}, Force)
		}
		if clears {
			p := r.Point()
			p.Value, p.Time = object.Unsigned(0), stamp
			if t.slot == database.Analog {
				p.Value = object.Float(0)
			}
			o.put(t.slot, r, &p, Detect)
		}
	}
}

// scheduleFreeze handles FC 11 and 12: a time and interval, then what is to be frozen.
func (o *Outstation) scheduleFreeze(now time.Time, f app.Fragment) app.IIN {
	var start time.Time
	var interval time.Duration
	known := false
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		if h.Variation == object.G50V2 {
			for raw := range h.Objects() {
				var stamp object.Timestamp
				stamp, interval, known = raw.TimeInterval()
				start, _ = stamp.Time()
				if stamp.Milliseconds == 0 {
					start = now
				}
			}
			continue
		}
		t, iin := o.freezeTarget(h)
		switch {
		case iin != 0:
			return iin
		case !known:
			return app.IINParameterError
		}
		o.order(freezing{at: start, interval: interval, target: t})
	}
	o.tick(now)
	return 0
}

func (o *Outstation) order(f freezing) {
	if len(o.freezes) == maxFreezes {
		o.freezes = append(o.freezes[:0], o.freezes[1:]...)
	}
	o.freezes = append(o.freezes, f)
}

// tick does what has become due for the device as a whole.
func (o *Outstation) tick(now time.Time) {
	if station.Due(o.timeDue, now) {
		o.indications |= app.IINNeedTime
		o.timeDue = time.Time{}
	}
	kept := o.freezes[:0]
	for _, f := range o.freezes {
		if station.Due(f.at, now) {
			o.freeze(now, f.target, false)
			if f.interval == 0 {
				continue
			}
			f.at = f.at.Add(f.interval * (1 + now.Sub(f.at)/f.interval))
		}
		kept = append(kept, f)
	}
	o.freezes = kept
}

// deadline returns when tick has to be called.
func (o *Outstation) deadline() time.Time {
	due := o.timeDue
	for i := range o.freezes {
		due = station.Earlier(due, o.freezes[i].at)
	}
	return due
}
