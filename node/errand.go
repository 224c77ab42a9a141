package node

import (
	"context"
	"encoding/json"
	"errors"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

var errAgentErrand = errors.New("is for people; an agent asks another node what it may ask its own")

// runErrand does a declared operation for a neighbour, if it may, with the capability "call node:<method>", and if who asks may by the role
// that it has at home.
func (n *Node) runErrand(ctx context.Context, v *tree.Visitor, r *tree.Request) (json.RawMessage, error) {
	args, err := wire.ParseArguments(r.Body)
	if err != nil {
		return nil, err
	}
	named := make(map[string]any, len(args.Kwargs))
	for name, text := range args.Kwargs {
		var value any
		if err := json.Unmarshal(text, &value); err != nil {
			return nil, fault.E("node.runErrand", fault.Invalid, name, err)
		}
		named[name] = value
	}
	d, _ := n.asked.Remote(r.Method)
	if err := mayRequest(v, &d, r.Method, named); err != nil {
		return nil, err
	}
	if v.IsAgent() {
		return nil, fault.E("node.runErrand", fault.Refused, r.Method, errAgentErrand)
	}
	who := operation.Caller{Name: v.For.String(), Role: v.As(d.Role), Grants: v.Grants, Visitor: true}
	if v.For == (identity.Principal{}) {
		who.Name = neighbourKind + v.Name
	}
	return n.asked.Visit(ctx, &who, r.Method, args.Kwargs)
}

// neighbourKind is before the name of a node that does not say for whom it asks.
const neighbourKind = "node:"

// mayRequest reports whether a neighbour may ask for a method: by its name, or by the one that it had before.
func mayRequest(v *tree.Visitor, d *operation.Declared, method string, named map[string]any) error {
	err := v.Grants.MayCall(wire.NodeName, method, named)
	for _, name := range []string{d.Name, d.Before} {
		if name != "" && err != nil && v.Grants.MayCall(wire.NodeName, name, named) == nil {
			return nil
		}
	}
	return err
}
