package outstation

import (
	"math"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
)

// item is a part of what a read asks for.
type item struct {
	source    source
	slot      slot
	variation uint8       // 0 for each point's own
	slots     slotSet     // of events
	classes   app.Classes // of events
	set       uint8       // of attributes
	limit     uint32      // of events and of points
	from, to  int32       // positions in the table, or attribute numbers
	class0    bool        // leave hidden points out
}

type source uint8

const (
	fromEvents source = iota
	fromTable
	fromDeadbands
	fromAttributes
	fromAttributeList
	fromClock
	fromIndications
)

// maxItems bounds what one request can make the session remember.
const maxItems = 512

// planRead turns the object headers of a read into a plan. Nothing is left of the plan
// if any header cannot be answered.
func (s *Session) planRead(f app.Fragment) app.IIN {
	s.plan = s.plan[:0]
	if s.plan == nil {
		s.plan = make([]item, 0, 4)
	}
	var iin app.IIN
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		iin |= s.planHeader(h)
		if len(s.plan) > maxItems {
			s.plan = s.plan[:0]
			return app.IINParameterError
		}
	}
	return iin
}

func (s *Session) planHeader(h app.Header) app.IIN {
	if class, ok := classOf(h.Variation); ok {
		return s.planClass(h, class)
	}
	v := h.Variation
	switch v.Kind() {
	case object.KindAttribute:
		return s.planAttributes(h)
	case object.KindTime:
		if v == object.G50V4 {
			return s.planTable(h, slotTime, fromTable)
		}
		return s.planSingle(h, fromClock, v == object.G50V1)
	case object.KindIndications:
		return s.planSingle(h, fromIndications, true)
	case object.KindDeadband:
		return s.planTable(h, slotAnalog, fromDeadbands)
	default:
	}
	at := slotOf(v.Kind())
	switch {
	case at == slots:
		return app.IINObjectUnknown
	case v.Event():
		return s.planEvents(h, at)
	default:
		return s.planTable(h, at, fromTable)
	}
}

func (s *Session) planSingle(_ app.Header, from source, known bool) app.IIN {
	if !known {
		return app.IINObjectUnknown
	}
	s.plan = append(s.plan, item{source: from})
	return 0
}

func (s *Session) planClass(h app.Header, class app.Classes) app.IIN {
	if class == app.Class0 {
		if h.Qualifier != app.AllObjects {
			return app.IINParameterError
		}
		for at := range slotValues {
			if n := len(s.outstation.database.tables[at]); n > 0 {
				s.plan = append(s.plan, item{
					source: fromTable, slot: at, to: int32(n), class0: true, limit: math.MaxUint32,
				})
			}
		}
		return 0
	}
	limit, ok := limitOf(h)
	if !ok {
		return app.IINParameterError
	}
	// Classes asked for together are reported together, in the order of time.
	if n := len(s.plan); n > 0 && limit == math.MaxUint32 {
		if before := &s.plan[n-1]; before.source == fromEvents && before.slots == allSlots && before.limit == limit {
			before.classes |= class
			return 0
		}
	}
	s.plan = append(s.plan, item{source: fromEvents, slots: allSlots, classes: class, limit: limit})
	return 0
}

func (s *Session) planEvents(h app.Header, at slot) app.IIN {
	limit, ok := limitOf(h)
	if !ok {
		return app.IINParameterError
	}
	s.plan = append(s.plan, item{
		source: fromEvents, slots: at.set(), classes: app.EventClasses, limit: limit, variation: h.Variation.Number(),
	})
	return 0
}

// limitOf returns how many events a header asks for.
func limitOf(h app.Header) (uint32, bool) {
	switch h.Qualifier {
	case app.AllObjects:
		return math.MaxUint32, true
	case app.Count8, app.Count16, app.Count32:
		return uint32(min(h.Count, math.MaxUint32)), true
	default:
		return 0, false
	}
}

// planTable plans current values or dead-bands: all, a range, a list or a number of them.
func (s *Session) planTable(h app.Header, at slot, from source) app.IIN {
	table := s.outstation.database.tables[at]
	it := item{
		source: from, slot: at, variation: h.Variation.Number(), to: int32(len(table)), limit: math.MaxUint32,
	}
	if at == slotString {
		it.variation = 0
	}
	if len(table) == 0 {
		return app.IINObjectUnknown
	}
	switch {
	case h.Qualifier == app.AllObjects:
	case h.Qualifier.Ranged() && h.Qualifier <= app.Range32:
		first, last := s.outstation.database.between(at, h.Start, h.Stop)
		if it.from, it.to = int32(first), int32(last); first == last {
			return app.IINParameterError
		}
	case h.Qualifier.Prefixed():
		return s.planList(h, it)
	default:
		limit, ok := limitOf(h)
		if !ok {
			return app.IINParameterError
		}
		it.limit = limit
	}
	s.plan = append(s.plan, it)
	return 0
}

func (s *Session) planList(h app.Header, it item) app.IIN {
	var iin app.IIN
	for o := range h.Objects() {
		if len(s.plan) > maxItems {
			return app.IINParameterError
		}
		first, last := s.outstation.database.between(it.slot, o.Index, o.Index)
		if first == last {
			iin = app.IINParameterError
			continue
		}
		it.from, it.to = int32(first), int32(last)
		s.plan = append(s.plan, it)
	}
	return iin
}

// classOf returns the class that an object of group 60 stands for.
func classOf(v object.Variation) (app.Classes, bool) {
	switch v {
	case object.G60V1:
		return app.Class0, true
	case object.G60V2:
		return app.Class1, true
	case object.G60V3:
		return app.Class2, true
	case object.G60V4:
		return app.Class3, true
	default:
		return 0, false
	}
}
