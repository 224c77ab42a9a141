package master

import (
	"time"

	"voltbus/protocol/dnp3/app"
)

// restart asks for a restart and reads how long it takes.
type restart struct{ single }

func (r *restart) answer(f app.Fragment, _ time.Time, result *Result) error {
	for h, err := range f.Headers() {
		if err != nil {
			return err
		}
		for o := range h.Objects() {
			if d, ok := o.Delay(); ok {
				result.Delay = d
			}
		}
	}
	return nil
}

// Restart restarts the outstation: all of it, or warm, its communication only.
func Restart(warm bool) *Request {
	if warm {
		return &Request{name: "warm restart", exchange: &restart{single{code: app.FuncWarmRestart}}}
	}
	return &Request{name: "cold restart", exchange: &restart{single{code: app.FuncColdRestart}}}
}
