package children

import (
	"context"
	"errors"
	"time"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
	"voltbus/operation"
	"voltbus/point"
	"voltbus/uplink/enrol"
)

// Door tells how other nodes reach and recognise this one.
type Door struct {
	Node      string          // its name
	Addresses func() []string // the addresses of its bus
	Authority Authority
}

// Authority signs the certificate of the node.
type Authority interface {
	Fingerprint() string
	Authority() string
}

// The arguments.
type (
	// NewInvitation describes an invitation to create.
	NewInvitation struct {
		Name      string          `json:"name" api:"judged,max=64" doc:"What the node is called; empty or left out: it chooses"`
		Prefix    string          `json:"prefix" api:"judged,max=512" doc:"Below which its points are; {name} stands for its name; empty or left out: anywhere"`
		Grants    identity.Grants `json:"grants" api:"schema=Grants"`
		Approved  bool            `json:"approved" doc:"It needs nobody's approval"`
		Expires   string          `json:"expires,omitempty" api:"schema=Time,min=1" doc:"From a minute to a year from now; left out: in a day"`
		Addresses []string        `json:"addresses" api:"judged,max=8" doc:"host:port where the node reaches the bus of this one; left out: those that this one knows"`
	}
	// ID names an invitation.
	ID struct {
		ID string `json:"id" api:"required,judged,max=64"`
	}
)

// The operations.
var (
	Invitations = operation.Declare[struct{}, answer.Invitations](operation.Spec{
		Name: "invitation.list", ID: "listInvitations", HTTP: "GET /invitations", Role: identity.Viewer,
		Summary: "List the invitations to become a child of this node; those that ended stay for 30 days", Result: "The newest first",
	})
	Invite = operation.Declare[NewInvitation, answer.Invited](operation.Spec{
		Name: "invitation.add", ID: "invite", HTTP: "POST /invitations", Role: identity.Administrator, Audited: true, Body: most,
		Summary: "Make an invitation for one node", Result: "The invitation with its code", Doc: "The answer is the only place where the code is shown.",
	})
	Cancel = operation.Declare[ID, answer.Invitation](operation.Spec{
		Name: "invitation.cancel", HTTP: "DELETE /invitations/{id}", Role: identity.Administrator, Audited: true,
		Summary: "Cancel an invitation", Result: "The invitation", Doc: "409 if it was used.",
	})
	Reach = operation.Declare[struct{}, answer.Door](operation.Spec{
		Name: "door.get", HTTP: "GET /door", Role: identity.Viewer,
		Summary: "Tell how other nodes reach and recognise this one", Result: "Addresses and authority",
	})
)

func (p *Part) aboutInvitations() []operation.Bound {
	return []operation.Bound{
		operation.Bind(Invitations, nil, p.invitations), operation.Bind(Invite, nil, p.invite), operation.Bind(Cancel, nil, p.cancel),
		operation.Bind(Reach, nil, p.reach),
	}
}

func (p *Part) invitations(context.Context, *operation.Call, *struct{}) (answer.Invitations, error) {
	list := p.Children.Invitations()
	out := answer.Invitations{Invitations: make([]answer.Invitation, len(list))}
	for i := range list {
		out.Invitations[i] = shownInvitation(&list[i], p.Now())
	}
	return out, nil
}

const inviteLife = 24 * time.Hour // by default

var (
	errInviteExpires = errors.New("must be a time such as 2027-01-31T12:00:00Z; leave it out for a day from now")
	errNoDoor        = errors.New("nothing listens for other nodes: set listen.bus, such as 0.0.0.0:4222, start the node, or say with an address where it is reached")
)

// invite creates an invitation; its code is shown in this answer only.
func (p *Part) invite(ctx context.Context, c *operation.Call, in *NewInvitation) (answer.Invited, error) {
	const op = "children.invite"
	c.Did(in.Name, in)
	wish := registry.Invitation{
		Name: in.Name, Prefix: point.Path(in.Prefix), Grants: in.Grants, Approved: in.Approved, Expires: p.Now().Add(inviteLife), By: c.User(),
	}
	var err error
	if in.Expires != "" {
		if wish.Expires, err = time.Parse(time.RFC3339, in.Expires); err != nil {
			return answer.Invited{}, fault.E(op, fault.Invalid, "expires", errInviteExpires)
		}
	}
	code := enrol.Code{Addresses: in.Addresses}
	if len(code.Addresses) == 0 {
		if code.Addresses = p.Door.Addresses(); len(code.Addresses) == 0 {
			return answer.Invited{}, fault.E(op, fault.Invalid, "addresses", errNoDoor)
		}
	}
	if err := code.Validate(); err != nil {
		return answer.Invited{}, err
	}
	if code.Fingerprint, err = pki.ParseFingerprint(p.Door.Authority.Fingerprint()); err != nil {
		return answer.Invited{}, err
	}
	made, secret, err := p.Children.Invite(ctx, wish)
	if err != nil {
		return answer.Invited{}, err
	}
	c.Did(made.ID, in)
	code.Secret = secret
	picture, err := code.QR()
	if err != nil { // with many long addresses; the text works anyway
		picture = []string{}
	}
	return answer.Invited{Invitation: shownInvitation(&made, p.Now()), Code: code.String(), QR: picture, Addresses: code.Addresses}, nil
}

func (p *Part) cancel(ctx context.Context, c *operation.Call, in *ID) (answer.Invitation, error) {
	c.Did(in.ID, nil)
	i, err := p.Children.CancelInvitation(ctx, in.ID)
	if err != nil {
		return answer.Invitation{}, err
	}
	return shownInvitation(&i, p.Now()), nil
}

func (p *Part) reach(context.Context, *operation.Call, *struct{}) (answer.Door, error) {
	return answer.Door{
		Node: p.Door.Node, Addresses: p.Door.Addresses(), Fingerprint: p.Door.Authority.Fingerprint(), Authority: p.Door.Authority.Authority(),
	}, nil
}

func shownInvitation(i *registry.Invitation, now time.Time) answer.Invitation {
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
		Created: i.Created.UTC(), Expires: i.Expires.UTC(), By: i.By, Used: moment(i.Used), UsedBy: i.UsedBy,
	}
}
