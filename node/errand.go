package node

import (
	"context"
	"encoding/json"

	"voltbus/api"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// runErrand does what a neighbour asks of this node that people ask over HTTP, if it may: with the
// capability "call node:<method>".
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
	if err := v.Grants.MayCall(wire.NodeName, r.Method, named); err != nil {
		return nil, err
	}
	who := identity.User{Name: v.Neighbour(), Role: identity.Administrator} // what it may is judged above
	if v.For != (identity.Principal{}) {
		who.Name = v.For.String()
	}
	return api.Visit(ctx, n.server.handler, who, r.Method, args.Kwargs)
}
