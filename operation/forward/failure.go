package forward

import (
	"errors"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
)

// failure is an error on its way between replicas.
type failure struct {
	Kind    string          `json:"kind"`
	Op      string          `json:"op,omitempty"`
	Subject string          `json:"subject,omitempty"`
	Message string          `json:"message"`
	Missing string          `json:"missing,omitempty"` // for a refusal: the capability
	Why     string          `json:"why,omitempty"`     // for a refusal of control
	Holders []answer.Holder `json:"holders,omitempty"`
	Raised  *answer.Raised  `json:"raised,omitempty"` // for an exception of an agent's method
}

func failureOf(err error) *failure {
	f := &failure{Kind: fault.KindOf(err).String(), Message: err.Error(), Missing: identity.MissingOf(err)}
	if e, is := errors.AsType[*fault.Error](err); is && e.Err != nil {
		f.Op, f.Subject, f.Message = e.Op, e.Subject, e.Err.Error()
	}
	if r, is := errors.AsType[*access.Refused](err); is {
		f.Why, f.Holders = r.Why, r.Holders
	}
	if r, is := errors.AsType[*answer.RaisedError](err); is {
		f.Raised = &r.Raised
	}
	return f
}

// words is a message whose cause is at another replica.
type words struct {
	text  string
	cause error
}

func (w *words) Error() string { return w.text }
func (w *words) Unwrap() error { return w.cause }

// err returns the error as it was.
func (f *failure) err() error {
	var cause error
	switch {
	case f.Raised != nil:
		cause = &answer.RaisedError{Raised: *f.Raised}
	case f.Missing != "":
		cause = &identity.Missing{Capability: f.Missing}
	}
	kind, _ := fault.ParseKind(f.Kind)
	err := fault.E(f.Op, kind, f.Subject, &words{f.Message, cause})
	if f.Why == "" && len(f.Holders) == 0 {
		return err
	}
	return access.NewRefused(err, f.Why, f.Holders)
}
