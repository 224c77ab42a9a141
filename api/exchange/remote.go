package exchange

import (
	"context"
	"encoding/json"

	"voltbus/identity"
	"voltbus/operation"
	"voltbus/wire"
)

// Remote reaches other nodes through the tree, as package tree does, on behalf of a person.
type Remote interface {
	// Self reports whether this node has the name.
	Self(node string) bool
	// Ask calls a method of another node for a caller; that node checks the role, too. It returns fault.Unreachable,
	// at once, if a node on the way is not connected, and names that node. An exception raised by the method is a
	// *answer.RaisedError.
	Ask(ctx context.Context, who *operation.Caller, c RemoteCall) (json.RawMessage, error)
	// Role returns the role that people need for a node's method that is not an operation of this API.
	Role(method string) identity.Role
}

// RemoteCall is a call of a method of another node.
type RemoteCall struct {
	Node   string
	Agent  string // wire.NodeName for the node itself
	Method string
	Args   wire.Arguments
}
