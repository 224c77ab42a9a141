package outstation

import (
	"math"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/outstation/attribute"
	"voltbus/protocol/dnp3/outstation/database"
	"voltbus/protocol/dnp3/outstation/event"
)

// item is a part of what a read asks for.
type item struct {
	source    source
	slot      database.Slot
	variation uint8        // 0 for each point's own
	slots     database.Set // of events
	classes   app.Classes  // of events
	set       uint8        // of attributes
	limit     uint32       // of events and of points
	from, to  int32        // positions in the table, or attribute numbers
	class0    bool         // leave hidden points out
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

// reader turns a read into a plan and writes what the plan says, fragment by fragment.
type reader struct {
	outstation  *Outstation
	events      *event.Buffer
	indications *indications
	plan        []item  // what is left of a read
	refused     app.IIN // what of it was refused
}

// maxItems bounds what one request can make a session remember.
const maxItems = 512

// planRead turns the object headers of a read into a plan. Nothing is left of the plan
// if any header cannot be answered.
func (r *reader) planRead(f app.Fragment) app.IIN {
	r.plan = r.plan[:0]
	if r.plan == nil {
		r.plan = make([]item, 0, 4)
	}
	var iin app.IIN
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		iin |= r.planHeader(h)
		if len(r.plan) > maxItems {
			r.plan = r.plan[:0]
			return app.IINParameterError
		}
	}
	return iin
}

func (r *reader) planHeader(h app.Header) app.IIN {
	if class, ok := classOf(h.Variation); ok {
		return r.planClass(h, class)
	}
	v := h.Variation
	switch v.Kind() {
	case object.KindAttribute:
		return r.planAttributes(h)
	case object.KindTime:
		if v == object.G50V4 {
			return r.planTable(h, database.Time, fromTable)
		}
		return r.planSingle(h, fromClock, v == object.G50V1)
	case object.KindIndications:
		return r.planSingle(h, fromIndications, true)
	case object.KindDeadband:
		return r.planTable(h, database.Analog, fromDeadbands)
	default:
	}
	at := database.SlotOf(v.Kind())
	switch {
	case at == database.Slots:
		return app.IINObjectUnknown
	case v.Event():
		return r.planEvents(h, at)
	default:
		return r.planTable(h, at, fromTable)
	}
}

func (r *reader) planSingle(_ app.Header, from source, known bool) app.IIN {
	if !known {
		return app.IINObjectUnknown
	}
	r.plan = append(r.plan, item{source: from})
	return 0
}

func (r *reader) planClass(h app.Header, class app.Classes) app.IIN {
	if class == app.Class0 {
		if h.Qualifier != app.AllObjects {
			return app.IINParameterError
		}
		for at := range database.Values {
			if n := len(r.outstation.database.Table(at)); n > 0 {
				r.plan = append(r.plan, item{
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
	if n := len(r.plan); n > 0 && limit == math.MaxUint32 {
		if before := &r.plan[n-1]; before.source == fromEvents && before.slots == database.All && before.limit == limit {
			before.classes |= class
			return 0
		}
	}
	r.plan = append(r.plan, item{source: fromEvents, slots: database.All, classes: class, limit: limit})
	return 0
}

func (r *reader) planEvents(h app.Header, at database.Slot) app.IIN {
	limit, ok := limitOf(h)
	if !ok {
		return app.IINParameterError
	}
	r.plan = append(r.plan, item{
		source: fromEvents, slots: at.Set(), classes: app.EventClasses, limit: limit, variation: h.Variation.Number(),
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
func (r *reader) planTable(h app.Header, at database.Slot, from source) app.IIN {
	table := r.outstation.database.Table(at)
	it := item{
		source: from, slot: at, variation: h.Variation.Number(), to: int32(len(table)), limit: math.MaxUint32,
	}
	if at == database.String {
		it.variation = 0
	}
	if len(table) == 0 {
		return app.IINObjectUnknown
	}
	switch {
	case h.Qualifier == app.AllObjects:
	case h.Qualifier.Ranged() && h.Qualifier <= app.Range32:
		first, last := r.outstation.database.Between(at, h.Start, h.Stop)
		if it.from, it.to = int32(first), int32(last); first == last {
			return app.IINParameterError
		}
	case h.Qualifier.Prefixed():
		return r.planList(h, it)
	default:
		limit, ok := limitOf(h)
		if !ok {
			return app.IINParameterError
		}
		it.limit = limit
	}
	r.plan = append(r.plan, it)
	return 0
}

func (r *reader) planList(h app.Header, it item) app.IIN {
	var iin app.IIN
	for o := range h.Objects() {
		if len(r.plan) > maxItems {
			return app.IINParameterError
		}
		first, last := r.outstation.database.Between(it.slot, o.Index, o.Index)
		if first == last {
			iin = app.IINParameterError
			continue
		}
		it.from, it.to = int32(first), int32(last)
		r.plan = append(r.plan, it)
	}
	return iin
}

// planAttributes plans the device attributes of the sets that a header names.
func (r *reader) planAttributes(h app.Header) app.IIN {
	number := h.Variation.Number()
	planned := len(r.plan)
	for _, set := range r.outstation.attributes.Of(h) {
		it := item{source: fromAttributes, set: set, from: int32(number), to: int32(number) + 1}
		switch number {
		case attribute.All:
			it.from, it.to = 0, attribute.All
		case attribute.Names:
			it.source = fromAttributeList
		default:
			if _, ok := r.outstation.attributes[set][number]; !ok {
				continue
			}
		}
		r.plan = append(r.plan, it)
	}
	if len(r.plan) == planned {
		return app.IINObjectUnknown
	}
	return 0
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
