package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"voltbus/api/answer"
	"voltbus/identity"
)

// ChildList returns the nodes below this one, by name.
func (c *Client) ChildList(ctx context.Context) (a answer.Children, err error) {
	return a, c.get(ctx, "children", nil, &a)
}

// Child returns a node below this one.
func (c *Client) Child(ctx context.Context, name string) (a answer.Child, err error) {
	return a, c.get(ctx, "children/"+url.PathEscape(name), nil, &a)
}

// NewChild is a child whose key was made elsewhere.
type NewChild struct {
	Name   string          `json:"name"`
	Public string          `json:"public"`
	Prefix string          `json:"prefix"`
	Grants identity.Grants `json:"grants"`
	// Expires is until when the key is taken if no node uses it; nil: for ever.
	Expires *time.Time `json:"expires,omitempty"`
}

// AddChild registers a child by the public half of its key, as approved. With Expires it renews one that
// never came.
func (c *Client) AddChild(ctx context.Context, child NewChild) (a answer.Child, err error) {
	return a, c.change(ctx, http.MethodPost, "children", child, &a)
}

// DecideChild decides on a child: approve, deny or revoke.
func (c *Client) DecideChild(ctx context.Context, name, decision string) (a answer.Child, err error) {
	return a, c.change(ctx, http.MethodPost, "children/"+url.PathEscape(name)+"/"+decision, nil, &a)
}

// RegrantChild withdraws some of what a child may do, and adds more.
func (c *Client) RegrantChild(ctx context.Context, name string, grant, withdraw identity.Grants) (a answer.Child, err error) {
	body := struct {
		Grant    identity.Grants `json:"grant"`
		Withdraw identity.Grants `json:"withdraw"`
	}{grant, withdraw}
	return a, c.change(ctx, http.MethodPatch, "children/"+url.PathEscape(name)+"/grants", body, &a)
}

// ConfineChild gives a child another prefix.
func (c *Client) ConfineChild(ctx context.Context, name, prefix string) (a answer.Child, err error) {
	body := struct {
		Prefix string `json:"prefix"`
	}{prefix}
	return a, c.change(ctx, http.MethodPut, "children/"+url.PathEscape(name)+"/prefix", body, &a)
}

// RemoveChild forgets a child.
func (c *Client) RemoveChild(ctx context.Context, name string) error {
	return c.remove(ctx, "children/"+url.PathEscape(name))
}

// remove sends a request whose answer has no body.
func (c *Client) remove(ctx context.Context, path string) error {
	resp, err := c.call(ctx, http.MethodDelete, path, nil, nil)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Wish is what an invitation is to be.
type Wish struct {
	Name      string          `json:"name"`
	Prefix    string          `json:"prefix"`
	Grants    identity.Grants `json:"grants"`
	Approved  bool            `json:"approved"`
	Expires   *time.Time      `json:"expires,omitempty"`   // nil: in a day
	Addresses []string        `json:"addresses,omitempty"` // empty: those that the node knows
}

// Invite makes an invitation, whose code is shown only in the answer.
func (c *Client) Invite(ctx context.Context, w Wish) (a answer.Invited, err error) {
	return a, c.change(ctx, http.MethodPost, "invitations", w, &a)
}

// InvitationList returns the invitations, the newest first.
func (c *Client) InvitationList(ctx context.Context) (a answer.Invitations, err error) {
	return a, c.get(ctx, "invitations", nil, &a)
}

// CancelInvitation ends an invitation.
func (c *Client) CancelInvitation(ctx context.Context, id string) (a answer.Invitation, err error) {
	return a, c.change(ctx, http.MethodDelete, "invitations/"+url.PathEscape(id), nil, &a)
}

// Door returns how nodes reach and recognise this one.
func (c *Client) Door(ctx context.Context) (a answer.Door, err error) {
	return a, c.get(ctx, "door", nil, &a)
}

// Parent returns the node above this one.
func (c *Client) Parent(ctx context.Context) (a answer.Parent, err error) {
	return a, c.get(ctx, "parent", nil, &a)
}

// JoinParent makes this node the child of the one that a code is of; name may be "".
func (c *Client) JoinParent(ctx context.Context, code, name string) (a answer.Parent, err error) {
	body := struct {
		Code string `json:"code"`
		Name string `json:"name"`
	}{code, name}
	return a, c.change(ctx, http.MethodPost, "parent", body, &a)
}

// LeaveParent makes this node forget the one above it.
func (c *Client) LeaveParent(ctx context.Context) error { return c.remove(ctx, "parent") }

// RotateKey gives this node a new key in place of the one that its parent knows.
func (c *Client) RotateKey(ctx context.Context) (a answer.Parent, err error) {
	return a, c.change(ctx, http.MethodPost, "parent/rotate", nil, &a)
}
