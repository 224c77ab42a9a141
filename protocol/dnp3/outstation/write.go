package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/database"
)

// writes carries out what a master writes (FC 2).
type writes struct {
	outstation  *Outstation
	indications *indications
	recorded    time.Time // when FC 24 recorded the time
}

// writeRequest handles FC 2.
func (w *writes) writeRequest(now time.Time, f app.Fragment) app.IIN {
	if len(f.Objects) == 0 {
		return app.IINParameterError
	}
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		if iin := w.writeHeader(now, h); iin != 0 {
			return iin
		}
	}
	return 0
}

func (w *writes) writeHeader(now time.Time, h app.Header) app.IIN {
	switch h.Variation.Kind() {
	case object.KindIndications:
		return w.writeIIN(h)
	case object.KindTime:
		if h.Variation == object.G50V4 {
			return w.writeIndexedTime(h)
		}
		return w.writeTime(now, h)
	case object.KindInteger:
		return w.writeInteger(h)
	case object.KindDeadband:
		return w.writeDeadband(h)
	case object.KindAttribute:
		return w.writeAttribute(h)
	case object.KindOctetString:
		return w.writeString(h)
	default:
		return app.IINObjectUnknown
	}
}

// restartBit is the index of IIN1.7 in g80v1.
const restartBit = 7

func (w *writes) writeIIN(h app.Header) app.IIN {
	for p := range h.Points() {
		if p.Index != restartBit || p.Value.Bool() {
			return app.IINParameterError
		}
	}
	w.indications.restarted = false
	return 0
}

func (w *writes) writeTime(now time.Time, h app.Header) app.IIN {
	call := w.outstation.callbacks.SetTime
	for o := range h.Objects() {
		written, ok := o.Time()
		at, isTime := written.Time()
		switch {
		case !ok || !isTime || h.Count != 1:
			return app.IINParameterError
		case h.Variation == object.G50V3 && (w.recorded.IsZero() || now.Before(w.recorded)):
			return app.IINParameterError // no FC 24 came before, or the clock jumped since
		case h.Variation == object.G50V3:
			at = at.Add(now.Sub(w.recorded))
			w.recorded = time.Time{}
		case h.Variation != object.G50V1:
			return app.IINObjectUnknown
		}
		if call == nil || !call(at) {
			return app.IINParameterError
		}
		w.outstation.synchronized(now)
	}
	return 0
}

func (w *writes) writeDeadband(h app.Header) app.IIN {
	for p := range h.Points() { // all or none
		if w.outstation.database.Find(database.Analog, p.Index) == nil || !(p.Value.Float() >= 0) {
			return app.IINParameterError
		}
	}
	for p := range h.Points() {
		w.outstation.database.Find(database.Analog, p.Index).Deadband = p.Value.Float()
	}
	if call := w.outstation.callbacks.Changed; call != nil {
		call(&w.outstation.tx, object.KindAnalogInput)
	}
	return 0
}

func (w *writes) writeString(h app.Header) app.IIN {
	call := w.outstation.callbacks.WriteString
	if call == nil || h.Variation.Event() {
		return app.IINObjectUnknown
	}
	for o := range h.Objects() {
		if w.outstation.database.Find(database.String, o.Index) == nil || !call(&w.outstation.tx, o.Index, o.Data) {
			return app.IINParameterError
		}
	}
	return 0
}

func (w *writes) writeInteger(h app.Header) app.IIN {
	call := w.outstation.callbacks.WriteInteger
	if call == nil {
		return app.IINObjectUnknown
	}
	for p := range h.Points() {
		known := w.outstation.database.Find(database.Integer, p.Index) != nil
		if !known || !call(&w.outstation.tx, p.Index, uint8(p.Value.Uint())) {
			return app.IINParameterError
		}
	}
	return 0
}

func (w *writes) writeIndexedTime(h app.Header) app.IIN {
	call := w.outstation.callbacks.WriteTime
	if call == nil {
		return app.IINObjectUnknown
	}
	for o := range h.Objects() {
		t, ok := o.IndexedTime()
		known := w.outstation.database.Find(database.Time, o.Index) != nil
		if !ok || !known || !call(&w.outstation.tx, o.Index, t) {
			return app.IINParameterError
		}
	}
	return 0
}

// synchronized notes that the clock was set.
func (o *Outstation) synchronized(now time.Time) {
	o.indications &^= app.IINNeedTime
	if o.timeSync > 0 {
		o.timeDue = now.Add(o.timeSync)
	}
}

// writeAttribute handles a write of g0.
func (w *writes) writeAttribute(h app.Header) app.IIN {
	call := w.outstation.callbacks.WriteAttribute
	number := h.Variation.Number()
	for o := range h.Objects() {
		a, ok := o.Attribute()
		set := uint8(o.Index)
		_, exists := w.outstation.attributes[set][number]
		if !ok || o.Index > 255 || !exists || call == nil {
			return app.IINParameterError
		}
		a.Data = append([]byte(nil), a.Data...)
		if !call(set, number, a) {
			return app.IINParameterError
		}
		w.outstation.attributes[set][number] = a
	}
	return 0
}
