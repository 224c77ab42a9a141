package outstation

import (
	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
	"voltbus/protocol/dnp3/station"
)

// activate answers FC 31: configurations are named by files (g70v8) or by octet strings
// (g110), and each gets a status.
func (s *Session) activate(f app.Fragment, out *station.Output) {
	call := s.outstation.callbacks.Activate
	if call == nil {
		s.reply(f, app.IINNoFunction, nil, out)
		return
	}
	names, iin := activated(f)
	if iin != 0 {
		s.reply(f, iin, nil, out)
		return
	}
	var answer object.Activation
	for _, name := range names {
		delay, status := call(name)
		answer.Delay = max(answer.Delay, delay)
		answer.Statuses = append(answer.Statuses, status)
	}
	s.reply(f, 0, func(w *app.Writer) error { return w.Free(answer) }, out)
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
