package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/outstation/database"
)

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
		at := database.SlotOf(h.Variation.Kind())
		switch {
		case !known || at == database.Slots:
			return app.IINObjectUnknown
		case h.Variation.Event(), class != 0 && database.TraitsOf(at).Event == 0:
			return app.IINParameterError
		}
		if iin := o.database.Assign(h, at, class); iin != 0 {
			return iin
		}
		if call := o.callbacks.Changed; call != nil {
			call(&o.tx, database.TraitsOf(at).Kind)
		}
	}
	return 0
}
