package forward

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"voltbus/api/answer"
	"voltbus/control/access"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

// pair is two replicas whose questions do not leave the process.
type pair struct {
	there *Forwarder
	away  error
}

func (p *pair) Ask(ctx context.Context, _, _ string, data []byte) ([]byte, error) {
	if p.away != nil {
		return nil, p.away
	}
	return p.there.answer(ctx, "r1", data), nil
}

func (*pair) Answer(context.Context, string, func(context.Context, string, []byte) []byte) error {
	return nil
}

func site(owner string, carry func(*operation.Forwarded) operation.Done) (*Forwarder, *pair) {
	p := &pair{}
	cfg := Config{Mesh: p, Owner: func(string, string) (string, bool) { return owner, owner == "r1" }, Carry: func(_ context.Context, r *operation.Forwarded) operation.Done { return carry(r) }}
	p.there = New(cfg)
	return New(cfg), p
}

func TestARequestGoesToTheOwnerWithItsCaller(t *testing.T) {
	sent := operation.Forwarded{
		Name:   "control.command",
		Caller: operation.Caller{Name: "agent:tune", Agent: "tune", Key: "k", Grants: identity.Grants{Administer: true}},
		Args:   operation.Arguments{"level": json.RawMessage("7")},
	}
	f, _ := site("r2", func(r *operation.Forwarded) operation.Done {
		if r.Name != sent.Name || r.Caller.Agent != "tune" || r.Caller.Key != "k" || !r.Caller.Grants.Administer || string(r.Args["level"]) != "7" {
			t.Errorf("what comes is %+v", r)
		}
		return operation.Done{Result: json.RawMessage(`{"a":1}`), Subject: "b/sp", Detail: json.RawMessage(`{"x":2}`), Told: true}
	})
	done, went := f.Forward(t.Context(), operation.Control, "", &sent)
	if !went || done.Err != nil || string(done.Result) != `{"a":1}` || done.Subject != "b/sp" || string(done.Detail) != `{"x":2}` || !done.Told {
		t.Errorf("the answer is %+v, %v", done, went)
	}
}

func TestErrorsArriveAsTheyAre(t *testing.T) {
	for name, err := range map[string]error{
		"a missing right": fault.E("op", fault.Refused, "b/sp", &identity.Missing{Capability: "command b/sp"}),
		"a conflict":      access.NewRefused(fault.E("op", fault.Conflict, "b/sp", errors.New("is held")), "held", []answer.Holder{{Requester: "agent:x"}}),
		"an exception":    fault.E("op", fault.Rejected, "x", &answer.RaisedError{Raised: answer.Raised{Type: "ValueError", Message: "no"}}),
		"a plain one":     errors.New("a defect"),
	} {
		t.Run(name, func(t *testing.T) {
			f, _ := site("r2", func(*operation.Forwarded) operation.Done { return operation.Done{Err: err} })
			done, _ := f.Forward(t.Context(), operation.Control, "", &operation.Forwarded{})
			got := done.Err
			if fault.KindOf(got) != fault.KindOf(err) || identity.MissingOf(got) != identity.MissingOf(err) || got.Error() != fault.E("", fault.Internal, "", err).Error() && got.Error() != err.Error() {
				t.Errorf("it arrives as %v, not %v", got, err)
			}
			if want, is := errors.AsType[*access.Refused](err); is {
				if r, is := errors.AsType[*access.Refused](got); !is || r.Why != want.Why || len(r.Holders) != 1 || r.Holders[0].Requester != "agent:x" {
					t.Errorf("it arrives as %+v", got)
				}
			}
			if want, is := errors.AsType[*answer.RaisedError](err); is {
				if r, is := errors.AsType[*answer.RaisedError](got); !is || r.Type != want.Type || r.Message != want.Message {
					t.Errorf("it arrives as %+v", got)
				}
			}
		})
	}
}

func TestWithoutAnOwnerARequestIsUnavailable(t *testing.T) {
	f, _ := site("", nil)
	if done, went := f.Forward(t.Context(), operation.Control, "", &operation.Forwarded{}); !went || !fault.Is(done.Err, fault.Unavailable) {
		t.Errorf("the answer is %+v, %v", done, went)
	}
	f, p := site("r2", nil)
	p.away = fault.E("ask", fault.Unavailable, "r2", errors.New("no answer"))
	if done, went := f.Forward(t.Context(), operation.Control, "", &operation.Forwarded{}); !went || !fault.Is(done.Err, fault.Unavailable) {
		t.Errorf("of one that is not reached the answer is %+v, %v", done, went)
	}
	f, _ = site("r1", nil)
	if _, went := f.Forward(t.Context(), operation.Control, "", &operation.Forwarded{}); went {
		t.Error("what is owned here was asked elsewhere")
	}
}
