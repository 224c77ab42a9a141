package outstation

import "voltbus/protocol/dnp3/app"

// assign handles FC 22: a class header, then the points that go into it.
func (o *Outstation) assign(f app.Fragment) app.IIN {
	var class app.Classes
	known := false
	for h, err := range f.Headers() {
		if err != nil {
			return app.ErrorIIN(err)
		}
		if c, ok := classOf(h.Variation); ok {
			class, known = c&app.EventClasses, true
			continue
		}
		at := slotOf(h.Variation.Kind())
		switch {
		case !known || at == slots:
			return app.IINObjectUnknown
		case h.Variation.Event(), class != 0 && traitsTable[at].event == 0:
			return app.IINParameterError
		}
		if iin := o.assignHeader(h, at, class); iin != 0 {
			return iin
		}
		if call := o.callbacks.Changed; call != nil {
			call(&o.tx, traitsTable[at].kind)
		}
	}
	return 0
}

func (o *Outstation) assignHeader(h app.Header, at slot, class app.Classes) app.IIN {
	table := o.database.tables[at]
	from, to := 0, len(table)
	switch {
	case h.Qualifier == app.AllObjects:
	case h.Qualifier.Ranged():
		from, to = o.database.between(at, h.Start, h.Stop)
	case h.Qualifier.Prefixed():
		for point := range h.Objects() {
			r := o.database.find(at, point.Index)
			if r == nil {
				return app.IINParameterError
			}
			r.class = class
		}
		return 0
	default:
		return app.IINParameterError
	}
	if from == to {
		return app.IINParameterError
	}
	for i := from; i < to; i++ {
		table[i].class = class
	}
	return 0
}
