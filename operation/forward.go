package operation

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/fault"
)

// Owners know which replica owns what operations need, and ask it.
type Owners interface {
	// Forward has the replica that owns something carry out a request; sent is false if that is this one, and then nothing was done. name is
	// that of the agent, "" for Control.
	Forward(ctx context.Context, owner, name string, r *Forwarded) (done Done, sent bool)
}

// Forwarded is a request on its way to the replica that can carry it out. Its caller is as the replica that took it has authenticated it.
type Forwarded struct {
	Name   string    `json:"name"`
	Caller Caller    `json:"caller"`
	Args   Arguments `json:"args"`
}

// Done is what became of a forwarded request, and what the audit log of the replica that took it shall say.
type Done struct {
	Result  json.RawMessage // null for none
	Err     error
	Subject string
	Detail  json.RawMessage // nil for none
	Told    bool            // the audit log of the other replica has it
}

// Owned sets who knows the owners, for a replica.
func (t *Table) Owned(by Owners) *Table {
	t.owners = by
	return t
}

// forward has the owner carry out a request, unless that is this replica.
func (t *Table) forward(ctx context.Context, b *Bound, call *Call, args Arguments) (Done, bool) {
	var name string
	if b.Owner == AgentNamed {
		_ = json.Unmarshal(args["name"], &name) // what is no name is nobody's, and refused here
	}
	ctx, cancel := context.WithTimeout(ctx, b.Longest())
	defer cancel()
	done, sent := t.owners.Forward(ctx, b.Owner, name, &Forwarded{Name: b.Name, Caller: call.Caller, Args: args})
	if sent {
		if call.subject, call.told = done.Subject, done.Told; done.Detail != nil {
			call.detail = done.Detail
		}
	}
	return done, sent
}

var errOwned = errors.New("is carried out by each replica itself")

// Carry carries out a request that another replica has taken.
func (t *Table) Carry(ctx context.Context, r *Forwarded) Done {
	b := t.byName[r.Name]
	if b == nil || b.Owner == "" || b.run == nil {
		return Done{Err: fault.E("operation.Carry", fault.NotFound, clip(r.Name), errOwned)}
	}
	if err := b.admits(&r.Caller); err != nil {
		return Done{Err: err}
	}
	ctx, cancel := context.WithTimeout(ctx, b.Longest())
	defer cancel()
	call := &Call{Caller: r.Caller}
	var done Done
	out, err := b.run(ctx, call, r.Args)
	if err == nil {
		done.Result, err = encoded(r.Name, out)
	}
	if done.Err, done.Subject, done.Told = err, call.subject, call.told; call.detail != nil {
		done.Detail, _ = json.Marshal(call.detail) // what cannot be encoded is not in any audit log
	}
	return done
}
