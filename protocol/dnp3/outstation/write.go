package outstation

import (
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// writeRequest handles FC 2.
func (s *Session) writeRequest(now time.Time, f app.Fragment) app.IIN {
	if len(f.Objects) == 0 {
		return app.IINParameterError
	}
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		if iin := s.writeHeader(now, h); iin != 0 {
			return iin
		}
	}
	return 0
}

func (s *Session) writeHeader(now time.Time, h app.Header) app.IIN {
	switch h.Variation.Kind() {
	case object.KindIndications:
		return s.writeIIN(h)
	case object.KindTime:
		if h.Variation == object.G50V4 {
			return s.writeIndexedTime(h)
		}
		return s.writeTime(now, h)
	case object.KindInteger:
		return s.writeInteger(h)
	case object.KindDeadband:
		return s.writeDeadband(h)
	case object.KindAttribute:
		return s.writeAttribute(h)
	case object.KindOctetString:
		return s.writeString(h)
	default:
		return app.IINObjectUnknown
	}
}

// restartBit is the index of IIN1.7 in g80v1.
const restartBit = 7

func (s *Session) writeIIN(h app.Header) app.IIN {
	for p := range h.Points() {
		if p.Index != restartBit || p.Value.Bool() {
			return app.IINParameterError
		}
	}
	s.restarted = false
	return 0
}

func (s *Session) writeTime(now time.Time, h app.Header) app.IIN {
	call := s.outstation.callbacks.SetTime
	for o := range h.Objects() {
		written, ok := o.Time()
		at, isTime := written.Time()
		switch {
		case !ok || !isTime || h.Count != 1:
			return app.IINParameterError
		case h.Variation == object.G50V3 && (s.recorded.IsZero() || now.Before(s.recorded)):
			return app.IINParameterError // no FC 24 came before, or the clock jumped since
		case h.Variation == object.G50V3:
			at = at.Add(now.Sub(s.recorded))
			s.recorded = time.Time{}
		case h.Variation != object.G50V1:
			return app.IINObjectUnknown
		}
		if call == nil || !call(at) {
			return app.IINParameterError
		}
		s.outstation.synchronized(now)
	}
	return 0
}

func (s *Session) writeDeadband(h app.Header) app.IIN {
	for p := range h.Points() { // all or none
		if s.outstation.database.find(slotAnalog, p.Index) == nil || !(p.Value.Float() >= 0) {
			return app.IINParameterError
		}
	}
	for p := range h.Points() {
		s.outstation.database.find(slotAnalog, p.Index).deadband = p.Value.Float()
	}
	if call := s.outstation.callbacks.Changed; call != nil {
		call(&s.outstation.tx, object.KindAnalogInput)
	}
	return 0
}

func (s *Session) writeString(h app.Header) app.IIN {
	call := s.outstation.callbacks.WriteString
	if call == nil || h.Variation.Event() {
		return app.IINObjectUnknown
	}
	for o := range h.Objects() {
		if s.outstation.database.find(slotString, o.Index) == nil || !call(&s.outstation.tx, o.Index, o.Data) {
			return app.IINParameterError
		}
	}
	return 0
}

func (s *Session) writeInteger(h app.Header) app.IIN {
	call := s.outstation.callbacks.WriteInteger
	if call == nil {
		return app.IINObjectUnknown
	}
	for p := range h.Points() {
		known := s.outstation.database.find(slotInteger, p.Index) != nil
		if !known || !call(&s.outstation.tx, p.Index, uint8(p.Value.Uint())) {
			return app.IINParameterError
		}
	}
	return 0
}

func (s *Session) writeIndexedTime(h app.Header) app.IIN {
	call := s.outstation.callbacks.WriteTime
	if call == nil {
		return app.IINObjectUnknown
	}
	for o := range h.Objects() {
		t, ok := o.IndexedTime()
		known := s.outstation.database.find(slotTime, o.Index) != nil
		if !ok || !known || !call(&s.outstation.tx, o.Index, t) {
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
