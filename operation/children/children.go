// Package children declares and carries out the operations on the children of this node and on invitations.
package children

import (
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/operation"
	"voltbus/point"
)

// Children keeps the children of this node and the invitations, as registry.Children does. Changes are in effect on open connections when
// a method returns.
type Children interface {
	List() []registry.Child
	Child(name string) (registry.Child, error)
	Add(ctx context.Context, c registry.Child) (registry.Child, error)
	Approve(ctx context.Context, name, by string) (registry.Child, error)
	Deny(ctx context.Context, name, by string) (registry.Child, error)
	Revoke(ctx context.Context, name, by string) (registry.Child, error)
	Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (registry.Child, error)
	Confine(ctx context.Context, name string, prefix point.Path) (registry.Child, error)
	Remove(ctx context.Context, name string) error
	Invitations() []registry.Invitation
	Invite(ctx context.Context, wish registry.Invitation) (registry.Invitation, registry.InviteSecret, error)
	CancelInvitation(ctx context.Context, id string) (registry.Invitation, error)
}

// The arguments.
type (
	// Node names a node.
	Node struct {
		Name string `json:"name" api:"required,judged,query,max=64"`
	}
	// New is a node whose key was generated elsewhere.
	New struct {
		Name    string          `json:"name" api:"required,judged,max=64" doc:"Letters, digits, - and _ after the first"`
		Public  string          `json:"public" api:"required,judged,min=56,max=56" doc:"An nkey, which begins with U"`
		Prefix  string          `json:"prefix" api:"judged,max=512" doc:"Below which its points are; empty or left out: anywhere"`
		Grants  identity.Grants `json:"grants" api:"schema=Grants"`
		Expires string          `json:"expires,omitempty" api:"schema=Time,min=1" doc:"Until when the key is taken if no node uses it, from a minute to ten years from now; left out: for ever"`
	}
	// Grants change what a node may do.
	Grants struct {
		Node
		operation.Regranting
	}
	// Prefix is the path below which the points of a node lie.
	Prefix struct {
		Node
		Prefix string `json:"prefix" api:"required,judged,max=512" doc:"Below which its points are; empty: anywhere"`
	}
)

// most is the maximum size of arguments in bytes.
const most = 1 << 20

// declare declares an operation about one node.
func declare[In any](name, http, summary, doc string, s operation.Spec) operation.Operation[In, answer.Child] {
	s.Name, s.HTTP, s.Summary, s.Doc, s.Result = name, http, summary, doc, "The node"
	if s.Role == identity.Nobody {
		s.Role, s.Audited = identity.Administrator, true
	}
	return operation.Declare[In, answer.Child](s)
}

// The operations.
var (
	List = operation.Declare[struct{}, answer.Children](operation.Spec{
		Name: "child.list", ID: "listChildren", HTTP: "GET /children", Role: identity.Viewer,
		Summary: "List the children of this node", Result: "By name",
	})
	Get = declare[Node]("child.get", "GET /children/{name}", "Read what is known of a child", "", operation.Spec{Role: identity.Viewer})
	Add = declare[New]("child.add", "POST /children", "Register a node by the public half of a key that was made elsewhere, as approved",
		"409 if the name or the key is taken. With `expires`, a node of the name that was never connected is renewed: with its key it gets the new "+
			"end; if its key has expired, it may get another one. Its prefix and grants stay.", operation.Spec{Body: most})
	Approve = declare[Node]("child.approve", "POST /children/{name}/approve", "Let a node in that waits, or that was shut out", "", operation.Spec{})
	Deny    = declare[Node]("child.deny", "POST /children/{name}/deny", "Refuse a node that waits for approval", "409 if it does not wait.", operation.Spec{})
	Revoke  = declare[Node]("child.revoke", "POST /children/{name}/revoke", "Shut a node out at once",
		"Its name and keys stay known and refused until it is removed. One that is away hears it when it returns.", operation.Spec{})
	Regrant = declare[Grants]("child.grant", "PATCH /children/{name}/grants", "Withdraw some of what a node may do, and grant more, at once",
		"A node can neither administer nor hold capabilities of agents.", operation.Spec{ID: "changeChildGrants", Body: most})
	Confine = declare[Prefix]("child.confine", "PUT /children/{name}/prefix", "Confine a node to points below another prefix, at once", "",
		operation.Spec{Body: most})
	Remove = operation.Declare[Node, operation.None](operation.Spec{
		Name: "child.remove", HTTP: "DELETE /children/{name}", Role: identity.Administrator, Audited: true,
		Summary: "Forget a node, whose connection ends at once",
	})
)

// Part carries out the operations on the children of this node.
type Part struct {
	Children Children // nil if there can be none
	// Online returns the connections of nodes, by their names as callers.
	Online func() map[string]*answer.AgentOnline
	// Refusals returns the nodes whose blocks are refused, and why.
	Refusals func() map[string]error
	Door     Door
	Now      func() time.Time
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	list := append([]operation.Bound{
		operation.Bind(List, nil, p.list), operation.Bind(Get, nil, p.get), operation.Bind(Add, nil, p.add), operation.Bind(Remove, nil, p.remove),
		operation.Bind(Approve, nil, p.decide(Children.Approve)), operation.Bind(Deny, nil, p.decide(Children.Deny)), operation.Bind(Revoke, nil, p.decide(Children.Revoke)),
		operation.Bind(Regrant, nil, p.regrant), operation.Bind(Confine, nil, p.confine),
	}, p.aboutInvitations()...)
	if p.Children == nil {
		return operation.Absent(list)
	}
	return list
}

func (p *Part) list(context.Context, *operation.Call, *struct{}) (answer.Children, error) {
	list := p.Children.List()
	out := answer.Children{Children: make([]answer.Child, len(list))}
	online, refusals := p.Online(), p.Refusals()
	for i := range list {
		out.Children[i] = shown(&list[i], p.Now(), online, refusals)
	}
	return out, nil
}

func (p *Part) get(_ context.Context, _ *operation.Call, in *Node) (answer.Child, error) {
	return p.show(p.Children.Child(in.Name))
}

var errExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it away for a key that does not expire")

// add registers a key that was generated elsewhere.
func (p *Part) add(ctx context.Context, c *operation.Call, in *New) (answer.Child, error) {
	c.Did(in.Name, in)
	wish := registry.Child{Name: in.Name, Public: in.Public, Prefix: point.Path(in.Prefix), Grants: in.Grants, By: c.User()}
	if in.Expires != "" {
		var err error
		if wish.Expires, err = time.Parse(time.RFC3339, in.Expires); err != nil {
			return answer.Child{}, fault.E("children.add", fault.Invalid, "expires", errExpires)
		}
	}
	return p.show(p.Children.Add(ctx, wish))
}

func (p *Part) decide(what func(c Children, ctx context.Context, name, by string) (registry.Child, error)) operation.Handler[Node, answer.Child] {
	return func(ctx context.Context, c *operation.Call, in *Node) (answer.Child, error) {
		c.Did(in.Name, nil)
		child, err := p.show(what(p.Children, ctx, in.Name, c.User()))
		if err == nil {
			c.Did(child.Name, map[string]string{"fingerprint": child.Print})
		}
		return child, err
	}
}

func (p *Part) regrant(ctx context.Context, c *operation.Call, in *Grants) (answer.Child, error) {
	return p.show(p.Children.Regrant(ctx, in.Name, c.Regranted(in.Name, in.Change)))
}

func (p *Part) confine(ctx context.Context, c *operation.Call, in *Prefix) (answer.Child, error) {
	c.Did(in.Name, map[string]string{"prefix": in.Prefix})
	return p.show(p.Children.Confine(ctx, in.Name, point.Path(in.Prefix)))
}

func (p *Part) remove(ctx context.Context, c *operation.Call, in *Node) (operation.None, error) {
	c.Did(in.Name, nil)
	return operation.None{}, p.Children.Remove(ctx, in.Name)
}

func (p *Part) show(c registry.Child, err error) (answer.Child, error) {
	if err != nil {
		return answer.Child{}, err
	}
	return shown(&c, p.Now(), p.Online(), p.Refusals()), nil
}

func shown(c *registry.Child, now time.Time, online map[string]*answer.AgentOnline, refusals map[string]error) answer.Child {
	out := answer.Child{
		Name: c.Name, Public: c.Public, Print: identity.KeyPrint(c.Public), State: string(c.State), Prefix: string(c.Prefix),
		Grants: c.Grants, Version: c.Version, Invitation: c.Invitation, Joined: c.Joined.UTC(), Changed: c.Changed.UTC(), By: c.By,
		Keys: 1 + len(c.Previous), Expires: moment(c.Expires), Online: online[c.Caller()],
	}
	if c.State == registry.ChildApproved && c.Expired(now) {
		out.State = answer.ChildExpired
	}
	if why := refusals[c.Name]; why != nil {
		out.Refusal = why.Error()
	}
	return out
}

// moment returns nil for the zero time.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
