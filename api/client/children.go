package client

import (
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
	"voltbus/operation/children"
)

var errDecision = errors.New("must be approve, deny or revoke")

// NewChild is a child whose key was generated elsewhere.
type NewChild struct {
	Name    string
	Public  string
	Prefix  string
	Grants  identity.Grants
	Expires *time.Time // until when the key is accepted if no node uses it; nil: for ever
}

// Arguments are those of children.Add, which registers a child by the public half of its key, as approved. With Expires it renews a child
// that never connected.
func (n NewChild) Arguments() children.New {
	return children.New{Name: n.Name, Public: n.Public, Prefix: n.Prefix, Grants: n.Grants, Expires: textOfTime(n.Expires)}
}

// textOfTime returns a time as it is written in JSON; "" for none.
func textOfTime(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// DecideChild decides on a child: approve, deny or revoke.
func (c *Client) DecideChild(ctx context.Context, name, decision string) (answer.Child, error) {
	for _, op := range []operation.Operation[children.Node, answer.Child]{children.Approve, children.Deny, children.Revoke} {
		if op.Name == "child."+decision {
			return Do(ctx, c, op, children.Node{Name: name})
		}
	}
	return answer.Child{}, fault.E("client.DecideChild", fault.Invalid, decision, errDecision)
}

// NewInvitation describes an invitation to create.
type NewInvitation struct {
	Name      string
	Prefix    string
	Grants    identity.Grants
	Approved  bool
	Expires   *time.Time // nil: in a day
	Addresses []string   // empty: those known to the node
}

// Arguments are those of children.Invite, whose answer contains the code; it is shown only then.
func (w NewInvitation) Arguments() children.NewInvitation {
	return children.NewInvitation{
		Name: w.Name, Prefix: w.Prefix, Grants: w.Grants, Approved: w.Approved, Expires: textOfTime(w.Expires), Addresses: w.Addresses,
	}
}
