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
			return parseIIN(err)
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
		return s.writeTime(now, h)
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
	for p := range h.Points() {
		r := s.outstation.database.find(slotAnalog, p.Index)
		width := p.Value.Float()
		if r == nil || !(width >= 0) {
			return app.IINParameterError
		}
		r.deadband = width
	}
	if call := s.outstation.callbacks.Changed; call != nil {
		call(&s.outstation.tx, object.KindAnalogInput)
	}
	return 0
}

func (s *Session) writeAttribute(h app.Header) app.IIN {
	call := s.outstation.callbacks.WriteAttribute
	number := h.Variation.Number()
	for o := range h.Objects() {
		a, ok := o.Attribute()
		_, exists := s.outstation.attributes[number]
		if !ok || o.Index != 0 || !exists || call == nil {
			return app.IINParameterError
		}
		a.Data = append([]byte(nil), a.Data...)
		if !call(number, a) {
			return app.IINParameterError
		}
		s.outstation.attributes[number] = a
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

// synchronized notes that the clock was set.
func (o *Outstation) synchronized(now time.Time) {
	o.indications &^= app.IINNeedTime
	if o.timeSync > 0 {
		o.timeDue = now.Add(o.timeSync)
	}
}
