package master

import (
	"fmt"
	"time"

	"voltbus/protocol/dnp3/app"
	"voltbus/protocol/dnp3/file"
	"voltbus/protocol/dnp3/object"
)

// Activate activates configurations that were transferred as files of these names
// (FC 31). What came of each is in Result.Activation.
func Activate(names ...string) *Request {
	a := &activate{}
	a.code = app.FuncActivateConfig
	a.objects = func(w *app.Writer) error {
		for _, name := range names {
			if err := w.Free(file.Name(name)); err != nil {
				return err
			}
		}
		return nil
	}
	return &Request{name: "activate configuration", exchange: a}
}

// activate asks for an activation and reads what came of it.
type activate struct{ single }

func (a *activate) answer(f app.Fragment, _ time.Time, result *Result) error {
	for h, err := range f.Headers() {
		if err != nil {
			return err
		}
		for o := range h.Objects() {
			answer, ok := o.Activation()
			if !ok {
				return fmt.Errorf("an answer of %v: %w", o.Variation, ErrMalformed)
			}
			result.Activation = object.Activation{
				Delay: answer.Delay, Statuses: append(result.Activation.Statuses, answer.Statuses...),
			}
		}
	}
	return nil
}
