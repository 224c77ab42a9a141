package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// activate answers FC 31: configurations are named by files (g70v8) or by octet strings
// (g110), and each gets a status.
func (o *Outstation) activate(f app.Fragment) (app.FreeObject, app.IIN) {
	call := o.callbacks.Activate
	if call == nil {
		return nil, app.IINNoFunction
	}
	names, iin := activated(f)
	if iin != 0 {
		return nil, iin
	}
	var answer object.Activation
	for _, name := range names {
		delay, status := call(name)
		answer.Delay = max(answer.Delay, delay)
		answer.Statuses = append(answer.Statuses, status)
	}
	return answer, 0
}

// activated returns the names in an activation.
func activated(f app.Fragment) ([]string, app.IIN) {
	var names []string
	for h, err := range f.Headers() {
		if err != nil {
			return nil, app.ErrorIIN(err)
		}
		for o := range h.Objects() {
			switch {
			case o.Variation == object.G70V8:
				names = append(names, string(file.ParseName(o)))
			case o.Variation.Kind() == object.KindOctetString && h.HasValues() && !o.Variation.Event():
				names = append(names, string(o.Data))
			default:
				return nil, app.IINObjectUnknown
			}
		}
	}
	if len(names) == 0 {
		return nil, app.IINParameterError
	}
	return names, 0
}
