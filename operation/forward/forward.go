// Package forward carries requests that only one replica can carry out to that one, and its answers back.
package forward

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"voltbus/fault"
	"voltbus/operation"
)

// Mesh asks other replicas, as package bus/mesh does.
type Mesh interface {
	Ask(ctx context.Context, replica, what string, data []byte) ([]byte, error)
	Answer(ctx context.Context, what string, handle func(ctx context.Context, from string, data []byte) []byte) error
}

// what is asked of other replicas.
const what = "operation"

// Config is what a Forwarder needs. All fields are required.
type Config struct {
	Mesh Mesh
	// Owner returns which replica owns something, "" for none, and whether it is this one. See operation.Owners.
	Owner func(owner, name string) (replica string, here bool)
	// Carry carries out a request of another replica, see operation.Table.
	Carry func(ctx context.Context, r *operation.Forwarded) operation.Done
}

// Forwarder is the operation.Owners of a replica. It is safe for concurrent use.
type Forwarder struct{ cfg Config }

// New returns a forwarder. It starts nothing.
func New(cfg Config) *Forwarder { return &Forwarder{cfg} }

// reply is the answer of another replica.
type reply struct {
	Result  json.RawMessage `json:"result,omitempty"`
	Subject string          `json:"subject,omitempty"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Told    bool            `json:"told,omitempty"`
	Failure *failure        `json:"failure,omitempty"`
}

const most = 7 << 20 // bytes of a result

var (
	errLarge  = fmt.Errorf("the answer has more than %d MiB; ask for less", most>>20)
	errNobody = errors.New("no replica has it at this moment; ask again in some seconds")
	errReply  = errors.New("the answer of the replica cannot be read")
)

// Forward implements operation.Owners.
func (f *Forwarder) Forward(ctx context.Context, owner, name string, r *operation.Forwarded) (operation.Done, bool) {
	const op = "forward.Forward"
	replica, here := f.cfg.Owner(owner, name)
	switch {
	case here:
		return operation.Done{}, false
	case replica == "":
		return operation.Done{Err: fault.E(op, fault.Unavailable, owner, errNobody)}, true
	}
	data, err := json.Marshal(r)
	if err != nil {
		return operation.Done{Err: fault.E(op, fault.Internal, r.Name, err)}, true
	}
	data, err = f.cfg.Mesh.Ask(ctx, replica, what, data)
	if fault.Is(err, fault.Unavailable) {
		err = fault.E(op, fault.Unavailable, owner, fmt.Errorf("%s has it and does not answer (%w); another replica takes over within some seconds: ask again", replica, err))
	}
	if err != nil {
		return operation.Done{Err: err}, true
	}
	var a reply
	if err := json.Unmarshal(data, &a); err != nil {
		return operation.Done{Err: fault.E(op, fault.Unavailable, replica, fmt.Errorf("%w: %w", errReply, err))}, true
	}
	done := operation.Done{Result: a.Result, Subject: a.Subject, Detail: a.Detail, Told: a.Told}
	if a.Failure != nil {
		done.Err = a.Failure.err()
	}
	return done, true
}

// Run answers the requests of other replicas until ctx ends; then it returns nil. A nil Forwarder, of a node alone, answers none.
func (f *Forwarder) Run(ctx context.Context) error {
	if f == nil {
		<-ctx.Done()
		return nil
	}
	return f.cfg.Mesh.Answer(ctx, what, f.answer)
}

func (f *Forwarder) answer(ctx context.Context, _ string, data []byte) []byte {
	var r operation.Forwarded
	var a reply
	if err := json.Unmarshal(data, &r); err != nil {
		a.Failure = failureOf(fault.E("forward.answer", fault.Invalid, "", err))
	} else {
		done := f.cfg.Carry(ctx, &r)
		a = reply{Result: done.Result, Subject: done.Subject, Detail: done.Detail, Told: done.Told}
		if done.Err != nil {
			a.Failure = failureOf(done.Err)
		}
	}
	if len(a.Result) > most {
		a = reply{Failure: failureOf(fault.E("forward.answer", fault.Invalid, r.Name, errLarge))}
	}
	out, err := json.Marshal(&a)
	if err != nil { // not of text and JSON
		return []byte(`{"failure":{"kind":"internal","message":"the answer cannot be written"}}`)
	}
	return out
}
