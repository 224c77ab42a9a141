package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// ChildState is how a child stands with this node.
type ChildState string

// The states of a child.
const (
	ChildPending  ChildState = "pending"  // somebody must approve it
	ChildApproved ChildState = "approved" // it may connect
	ChildRevoked  ChildState = "revoked"  // it is shut out
)

// Child is a node whose data this one takes. Values are not changed after they were handed over.
type Child struct {
	Name       string          `json:"name"`
	Public     string          `json:"public"` // nkey, such as "UABC…"; the private half stays with the child
	State      ChildState      `json:"state"`
	Prefix     point.Path      `json:"prefix"`               // below which its points are; "" for everywhere
	Grants     identity.Grants `json:"grants"`               // what it may do beside recording and publishing below its prefix
	Version    string          `json:"version,omitempty"`    // of its program, as it said when it joined
	Invitation string          `json:"invitation,omitempty"` // the ID of the one that it joined with; "" for none
	Previous   []string        `json:"previous,omitempty"`   // keys that it had before, which are refused
	Joined     time.Time       `json:"joined"`
	Changed    time.Time       `json:"changed"`      // when the state changed last
	By         string          `json:"by,omitempty"` // who changed it; "" if the invitation did
	// Expires is until when the key of a bundle is taken that no node has used yet. It is zero once the node
	// was here, and of one whose key does not expire.
	Expires time.Time `json:"expires,omitzero"`
}

// Expired reports whether the child never came, and its key is not taken any more.
func (c *Child) Expired(now time.Time) bool { return !c.Expires.IsZero() && !now.Before(c.Expires) }

// Caller is the child's name on the bus.
func (c *Child) Caller() string { return identity.ChildPrefix + c.Name }

// Below returns the pattern of the points that the child may record and publish.
func (c *Child) Below() point.Pattern {
	if c.Prefix == "" {
		return "**"
	}
	return point.Pattern(c.Prefix)
}

// All returns everything that the child may do.
func (c *Child) All() identity.Grants {
	own := []point.Pattern{c.Below()}
	return identity.Grants{Publish: own, Record: own}.With(c.Grants)
}

// Invitation lets one node become a child. The secret of its key is nowhere here.
type Invitation struct {
	ID       string          `json:"id"`
	Public   string          `json:"public"`         // nkey of the code
	Approved bool            `json:"approved"`       // the child needs nobody's approval
	Name     string          `json:"name,omitempty"` // what the child is called; "" lets it choose
	Prefix   point.Path      `json:"prefix"`         // PrefixOfName stands for the child's name
	Grants   identity.Grants `json:"grants"`
	Created  time.Time       `json:"created"`
	Expires  time.Time       `json:"expires"`
	By       string          `json:"by,omitempty"`     // who invited
	Used     time.Time       `json:"used,omitzero"`    // zero: not yet
	UsedBy   string          `json:"used_by,omitzero"` // the child's name
	Canceled time.Time       `json:"canceled,omitzero"`
}

// PrefixOfName in an invitation's prefix stands for the name that the child gets.
const PrefixOfName = "{name}"

// Open returns nil if the invitation can be used, or a fault.Refused error that says why not.
func (i *Invitation) Open(now time.Time) error {
	const op = "registry.Invitation"
	switch {
	case !i.Canceled.IsZero():
		return fault.E(op, fault.Refused, i.ID, errInviteCanceled)
	case !i.Used.IsZero():
		return fault.E(op, fault.Refused, i.ID, errInviteUsed)
	case !now.Before(i.Expires):
		return fault.E(op, fault.Refused, i.ID, fmt.Errorf("%w (it held until %s, and it is %s there)", errInviteExpired,
			i.Expires.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339)))
	}
	return nil
}

var (
	errInviteCanceled = errors.New("the code was cancelled; ask for a new one")
	errInviteUsed     = errors.New("the code was used already; each lets one node join: ask for a new one")
	errInviteExpired  = errors.New("the code has expired; ask for a new one")
)

// ChildStorage is where children and invitations are kept. Methods are safe for concurrent use and
// durable when they return.
type ChildStorage interface {
	// PutChild adds a child, or replaces the one of the name, and with it, if there is one, an
	// invitation, both or none.
	PutChild(ctx context.Context, c Child, i *Invitation) error
	// Children lists all children by name, the revoked ones too.
	Children(ctx context.Context) ([]Child, error)
	// DropChild removes a child; fault.NotFound if there is none.
	DropChild(ctx context.Context, name string) error
	// PutInvitation adds an invitation, or replaces the one of the ID.
	PutInvitation(ctx context.Context, i Invitation) error
	// Invitations lists all invitations, the newest first.
	Invitations(ctx context.Context) ([]Invitation, error)
	// DropInvitation removes an invitation; fault.NotFound if there is none.
	DropInvitation(ctx context.Context, id string) error
}

var (
	errChildPrefix = errors.New("must be a path such as campus/b1, without * and braces; in an invitation {name} stands for the node's name")
	errChildGrants = errors.New("a node can be granted publish, record, subscribe, read, command and call, but neither to administer nor to hold")
)

// CheckPrefix returns nil, or a fault.Invalid error that says what the prefix of a node looks like.
func CheckPrefix(prefix point.Path) error {
	if prefix == "" {
		return nil
	}
	if err := prefix.Validate(); err != nil || strings.ContainsAny(string(prefix), "*{}") {
		return fault.E("registry.CheckPrefix", fault.Invalid, "prefix", errors.Join(errChildPrefix, err))
	}
	return nil
}

// CheckChildGrants returns nil, or a fault.Invalid error about what a child cannot be granted.
func CheckChildGrants(g *identity.Grants) error {
	if g.Administer || len(g.Hold) > 0 {
		return fault.E("registry.CheckChildGrants", fault.Invalid, "grants", errChildGrants)
	}
	return identity.CheckGrants(g)
}
