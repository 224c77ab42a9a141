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
	"voltbus/operation/parent"
)

var errDecision = errors.New("must be approve, deny or revoke")

// ChildList returns the nodes below this one, by name.
func (c *Client) ChildList(ctx context.Context) (answer.Children, error) {
	return Do(ctx, c, children.List, struct{}{})
}

// Child returns a node below this one.
func (c *Client) Child(ctx context.Context, name string) (answer.Child, error) {
	return Do(ctx, c, children.Get, children.Node{Name: name})
}

// NewChild is a child whose key was made elsewhere.
type NewChild struct {
	Name    string
	Public  string
	Prefix  string
	Grants  identity.Grants
	Expires *time.Time // until when the key is taken if no node uses it; nil: for ever
}

// AddChild registers a child by the public half of its key, as approved. With Expires it renews one that
// never came.
func (c *Client) AddChild(ctx context.Context, child NewChild) (answer.Child, error) {
	return Do(ctx, c, children.Add, children.New{
		Name: child.Name, Public: child.Public, Prefix: child.Prefix, Grants: child.Grants, Expires: textOfTime(child.Expires),
	})
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

// RegrantChild withdraws some of what a child may do, and adds more.
func (c *Client) RegrantChild(ctx context.Context, name string, grant, withdraw identity.Grants) (answer.Child, error) {
	return Do(ctx, c, children.Regrant, children.Grants{
		Node: children.Node{Name: name}, Regranting: operation.Regranting{Grant: grant, Withdraw: withdraw},
	})
}

// ConfineChild gives a child another prefix.
func (c *Client) ConfineChild(ctx context.Context, name, prefix string) (answer.Child, error) {
	return Do(ctx, c, children.Confine, children.Prefix{Node: children.Node{Name: name}, Prefix: prefix})
}

// RemoveChild forgets a child.
func (c *Client) RemoveChild(ctx context.Context, name string) error {
	_, err := Do(ctx, c, children.Remove, children.Node{Name: name})
	return err
}

// Wish is what an invitation is to be.
type Wish struct {
	Name      string
	Prefix    string
	Grants    identity.Grants
	Approved  bool
	Expires   *time.Time // nil: in a day
	Addresses []string   // empty: those that the node knows
}

// Invite makes an invitation, whose code is shown only in the answer.
func (c *Client) Invite(ctx context.Context, w Wish) (answer.Invited, error) {
	return Do(ctx, c, children.Invite, children.Wish{
		Name: w.Name, Prefix: w.Prefix, Grants: w.Grants, Approved: w.Approved, Expires: textOfTime(w.Expires), Addresses: w.Addresses,
	})
}

// InvitationList returns the invitations, the newest first.
func (c *Client) InvitationList(ctx context.Context) (answer.Invitations, error) {
	return Do(ctx, c, children.Invitations, struct{}{})
}

// CancelInvitation ends an invitation.
func (c *Client) CancelInvitation(ctx context.Context, id string) (answer.Invitation, error) {
	return Do(ctx, c, children.Cancel, children.ID{ID: id})
}

// Door returns how nodes reach and recognise this one.
func (c *Client) Door(ctx context.Context) (answer.Door, error) {
	return Do(ctx, c, children.Reach, struct{}{})
}

// Parent returns the node above this one.
func (c *Client) Parent(ctx context.Context) (answer.Parent, error) {
	return Do(ctx, c, parent.Get, struct{}{})
}

// JoinParent makes this node the child of the one that a code is of; name may be "".
func (c *Client) JoinParent(ctx context.Context, code, name string) (answer.Parent, error) {
	return Do(ctx, c, parent.Join, parent.Code{Code: code, Name: name})
}

// LeaveParent makes this node forget the one above it.
func (c *Client) LeaveParent(ctx context.Context) error {
	_, err := Do(ctx, c, parent.Leave, struct{}{})
	return err
}

// RotateKey gives this node a new key in place of the one that its parent knows.
func (c *Client) RotateKey(ctx context.Context) (answer.Parent, error) {
	return Do(ctx, c, parent.Rotate, struct{}{})
}
