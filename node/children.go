package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/audit"
	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/uplink/enrol"
)

// openChildren lets other nodes become children of this one, and this one the child of another.
func (n *Node) openChildren(ctx context.Context) error {
	var err error
	if n.children, err = identity.OpenChildren(ctx, n.catalog, now); err != nil {
		return err
	}
	n.host = enrol.NewHost(n.opts.Config.Node.Name, n.children, n.identity.Certificates.Authority, n.tellOfEnrolment)
	n.parent, err = enrol.OpenParent(n.opts.Config.Node.Data, now)
	return err
}

// childChanged makes a change of a child or an invitation hold on the bus.
func (n *Node) childChanged(c identity.ChildChange) {
	for _, key := range c.Keys {
		n.bus.Repermit(key)
	}
	if n.liveHub != nil {
		n.liveHub.Changed()
	}
	if c.Before.State == identity.ChildApproved && c.After.State != identity.ChildApproved {
		n.reviewFar(n.tree.Branch(c.Before.Name)...)
	} else if c.Before.State == identity.ChildApproved {
		n.reviewFar()
	}
	before, after := c.Before.All(), c.After.All()
	if c.Before.Name != "" && (c.Before.Prefix != c.After.Prefix || !slices.Equal(before.Record, after.Record)) {
		// A child hears of its prefix when it greets, and then sends what was refused before.
		n.bus.Drop(c.After.Public, "the place of its points has changed")
	}
}

// tellOfEnrolment writes what a child did into the audit log.
func (n *Node) tellOfEnrolment(ctx context.Context, d enrol.Deed) {
	e := audit.Entry{Actor: busActor(d.Who), Action: d.Action, Subject: d.Child, Outcome: "ok"}
	if d.Err != nil {
		e.Outcome = d.Err.Error()
	}
	e.Detail, _ = json.Marshal(struct { // texts
		Fingerprint string `json:"fingerprint"`
		Invitation  string `json:"invitation,omitempty"`
		State       string `json:"state,omitempty"`
	}{d.Key, d.Invite, string(d.State)})
	n.tell(ctx, e)
}

// children implements api.Children.
type children struct{ node *Node }

// Children implements api.Children.
func (c children) Children(context.Context) ([]answer.Child, error) {
	online := map[string]bus.Presence{}
	for _, p := range c.node.bus.Online() {
		online[p.Name] = p
	}
	list := c.node.children.List()
	out := make([]answer.Child, len(list))
	blocks := c.node.receiver.Status()
	for i := range list {
		out[i] = shownChild(&list[i], online[list[i].Caller()], blocks[list[i].Name].Refusal)
	}
	return out, nil
}

// Child implements api.Children.
func (c children) Child(_ context.Context, name string) (answer.Child, error) {
	return c.show(c.node.children.Child(name))
}

// AddChild implements api.Children.
func (c children) AddChild(ctx context.Context, child identity.Child) (answer.Child, error) {
	return c.show(c.node.children.Add(ctx, child))
}

// DecideChild implements api.Children.
func (c children) DecideChild(ctx context.Context, name string, d api.Decision, by string) (answer.Child, error) {
	switch d {
	case api.ApproveChild:
		return c.show(c.node.children.Approve(ctx, name, by))
	case api.DenyChild:
		return c.show(c.node.children.Deny(ctx, name, by))
	case api.RevokeChild:
		return c.show(c.node.children.Revoke(ctx, name, by))
	}
	return answer.Child{}, fault.E("node.DecideChild", fault.Internal, string(d), errDecision)
}

var errDecision = errors.New("there is no such decision")

// RegrantChild implements api.Children.
func (c children) RegrantChild(ctx context.Context, name string, change func(*identity.Grants) error) (answer.Child, error) {
	return c.show(c.node.children.Regrant(ctx, name, change))
}

// ConfineChild implements api.Children.
func (c children) ConfineChild(ctx context.Context, name string, prefix point.Path) (answer.Child, error) {
	return c.show(c.node.children.Confine(ctx, name, prefix))
}

// RemoveChild implements api.Children.
func (c children) RemoveChild(ctx context.Context, name string) error {
	return c.node.children.Remove(ctx, name)
}

// Invitations implements api.Children.
func (c children) Invitations(context.Context) ([]answer.Invitation, error) {
	list := c.node.children.Invitations()
	out := make([]answer.Invitation, len(list))
	for i := range list {
		out[i] = shownInvitation(&list[i], now())
	}
	return out, nil
}

var errNoDoor = errors.New("nothing listens for other nodes: set listen.bus, such as 0.0.0.0:4222, start the node, or say with an address where it is reached")

// Invite implements api.Children.
func (c children) Invite(ctx context.Context, wish identity.Invitation, addresses []string) (answer.Invited, error) {
	if len(addresses) == 0 {
		if addresses = c.addresses(); len(addresses) == 0 {
			return answer.Invited{}, fault.E("node.Invite", fault.Invalid, "addresses", errNoDoor)
		}
	}
	code := enrol.Code{Addresses: addresses}
	if err := code.Validate(); err != nil {
		return answer.Invited{}, err
	}
	var err error
	if code.Fingerprint, err = identity.ParseFingerprint(c.node.identity.Certificates.Fingerprint()); err != nil {
		return answer.Invited{}, err
	}
	made, secret, err := c.node.children.Invite(ctx, wish)
	if err != nil {
		return answer.Invited{}, err
	}
	code.Secret = secret
	picture, err := code.QR()
	if err != nil { // with many long addresses; the text does all the same
		picture = []string{}
	}
	return answer.Invited{Invitation: shownInvitation(&made, now()), Code: code.String(), QR: picture, Addresses: addresses}, nil
}

// CancelInvitation implements api.Children.
func (c children) CancelInvitation(ctx context.Context, id string) (answer.Invitation, error) {
	i, err := c.node.children.CancelInvitation(ctx, id)
	if err != nil {
		return answer.Invitation{}, err
	}
	return shownInvitation(&i, now()), nil
}

// Door implements api.Children.
func (c children) Door(context.Context) (answer.Door, error) {
	certs := c.node.identity.Certificates
	return answer.Door{
		Node: c.node.opts.Config.Node.Name, Addresses: c.addresses(), Fingerprint: certs.Fingerprint(), Authority: certs.Authority(),
	}, nil
}

func (c children) addresses() []string {
	list := enrol.Reachable(c.node.bus.Addr(), identity.LocalNames())
	if list == nil {
		list = []string{}
	}
	return list
}

func (c children) show(child identity.Child, err error) (answer.Child, error) {
	if err != nil {
		return answer.Child{}, err
	}
	refusal := c.node.receiver.Status()[child.Name].Refusal
	for _, p := range c.node.bus.Online() {
		if p.Name == child.Caller() {
			return shownChild(&child, p, refusal), nil
		}
	}
	return shownChild(&child, bus.Presence{}, refusal), nil
}

// shownChild returns a child as the API shows it; the zero Presence is one that is not
// connected, and refusal why blocks of it are not taken.
func shownChild(c *identity.Child, p bus.Presence, refusal error) answer.Child {
	out := answer.Child{
		Name: c.Name, Public: c.Public, Print: identity.KeyPrint(c.Public), State: string(c.State), Prefix: string(c.Prefix),
		Grants: c.Grants, Version: c.Version, Invitation: c.Invitation, Joined: c.Joined.UTC(), Changed: c.Changed.UTC(), By: c.By,
		Keys: 1 + len(c.Previous),
	}
	if !c.Expires.IsZero() {
		out.Expires = moment(c.Expires.UTC())
	}
	if c.State == identity.ChildApproved && c.Expired(now()) {
		out.State = answer.ChildExpired
	}
	if refusal != nil {
		out.Refusal = refusal.Error()
	}
	if p.Name != "" {
		out.Online = &answer.AgentOnline{Since: p.Since.UTC(), Address: p.Address, In: answer.Traffic(p.In), Out: answer.Traffic(p.Out)}
	}
	return out
}

func shownInvitation(i *identity.Invitation, now time.Time) answer.Invitation {
	state := "open"
	switch {
	case !i.Used.IsZero():
		state = "used"
	case !i.Canceled.IsZero():
		state = "cancelled"
	case i.Open(now) != nil:
		state = "expired"
	}
	return answer.Invitation{
		ID: i.ID, State: state, Approved: i.Approved, Name: i.Name, Prefix: string(i.Prefix), Grants: i.Grants,
		Created: i.Created.UTC(), Expires: i.Expires.UTC(), By: i.By, Used: moment(i.Used.UTC()), UsedBy: i.UsedBy,
	}
}
