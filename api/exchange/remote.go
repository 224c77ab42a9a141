package exchange

import (
	"context"
	"encoding/json"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/wire"
)

// Remote reaches other nodes through the tree, as package tree does, in the name of a person.
type Remote interface {
	// Self reports whether this node has the name.
	Self(node string) bool
	// Ask calls a method at another node for a caller; the role is checked there, too. fault.Unreachable, at once: a
	// node on the way is not connected, and the error says which. What a method raised is a *answer.RaisedError.
	Ask(ctx context.Context, who *operation.Caller, c RemoteCall) (json.RawMessage, error)
	// Role returns the role that people need for a method of a node that is no operation of this API.
	Role(method string) identity.Role
}

// RemoteCall is a call at another node.
type RemoteCall struct {
	Node   string
	Agent  string // wire.NodeName for the node itself
	Method string
	Args   wire.Arguments
}
