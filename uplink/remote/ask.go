package remote

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Tree passes requests on. Package uplink/tree has it.
type Tree interface {
	// Self reports whether this node has a name.
	Self(name string) bool
	Ask(ctx context.Context, who tree.Caller, r tree.Request) (json.RawMessage, error)
}

// Asker asks other nodes for callers of this one. All fields must be there.
type Asker struct {
	Tree Tree
	// Roles returns the role that people need for a method of a node that is no operation.
	Roles func(method string) identity.Role
}

// Self reports whether this node has a name.
func (a *Asker) Self(name string) bool { return a.Tree.Self(name) }

// Role returns the role that people need for a method of a node that is no operation.
func (a *Asker) Role(method string) identity.Role { return a.Roles(method) }

// Ask has somebody call a method at another node. What the method raised is an *answer.RaisedError.
func (a *Asker) Ask(ctx context.Context, who *operation.Caller, c exchange.RemoteCall) (json.RawMessage, error) {
	body, err := json.Marshal(c.Args)
	if err != nil {
		return nil, fault.E("remote.Ask", fault.Invalid, c.Node, err)
	}
	result, err := a.Tree.Ask(ctx, tree.Caller{Name: who.Name, Role: who.Role}, tree.Request{Node: c.Node, Agent: c.Agent, Method: c.Method, Body: body})
	if there, ok := errors.AsType[*wire.Failure](err); ok && there.Kind == wire.RemoteKind {
		return nil, &answer.RaisedError{Raised: answer.Raised{Type: there.Type, Message: there.Message, Args: there.Args}}
	}
	if err == nil && len(result) == 0 {
		result = json.RawMessage("null")
	}
	return result, err
}

// Operation has another node do an operation for somebody of this one.
func (a *Asker) Operation(ctx context.Context, who *operation.Caller, node, name string, args operation.Arguments) (json.RawMessage, error) {
	return a.Ask(ctx, who, exchange.RemoteCall{Node: node, Agent: wire.NodeName, Method: name, Args: wire.Arguments{Kwargs: args}})
}
