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

// Tree forwards requests. Package uplink/tree implements it.
type Tree interface {
	// Self reports whether this node has the name.
	Self(name string) bool
	Ask(ctx context.Context, who tree.Caller, r tree.Request) (json.RawMessage, error)
}

// Asker sends requests of this node's callers to other nodes. All fields are required.
type Asker struct {
	Tree Tree
	// Roles returns the role that people need for a node's method that is not an operation.
	Roles func(method string) identity.Role
}

// Self reports whether this node has the name.
func (a *Asker) Self(name string) bool { return a.Tree.Self(name) }

// Role returns the role that people need for a node's method that is not an operation.
func (a *Asker) Role(method string) identity.Role { return a.Roles(method) }

// Ask calls a method at another node for a caller. An exception that the method raised is an *answer.RaisedError.
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

// Operation has another node carry out an operation for a caller of this one.
func (a *Asker) Operation(ctx context.Context, who *operation.Caller, node, name string, args operation.Arguments) (json.RawMessage, error) {
	return a.Ask(ctx, who, exchange.RemoteCall{Node: node, Agent: wire.NodeName, Method: name, Args: wire.Arguments{Kwargs: args}})
}
