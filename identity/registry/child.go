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

// ChildState is the state of a child's membership.
type ChildState string

// The states of a child.
const (
	ChildPending  ChildState = "pending"  // it must be approved
	ChildApproved ChildState = "approved" // it may connect
	ChildRevoked  ChildState = "revoked"  // it is shut out
)

// Child is a node whose data this one accepts. Values are not modified once they are shared.
type Child struct {
	Name       string          `json:"name"`
	Public     string          `json:"public"` // nkey, such as "UABC…"; the private key stays with the child
	State      ChildState      `json:"state"`
	Prefix     point.Path      `json:"prefix"`               // path of its points; "" for anywhere
	Grants     identity.Grants `json:"grants"`               // what it may do besides recording and publishing below its prefix
	Version    string          `json:"version,omitempty"`    // version of its program, as reported when it joined
	Invitation string          `json:"invitation,omitempty"` // the ID of the invitation it used; "" for none
	Previous   []string        `json:"previous,omitempty"`   // earlier keys, which are refused
	Joined     time.Time       `json:"joined"`
	Changed    time.Time       `json:"changed"`      // when the state last changed
	By         string          `json:"by,omitempty"` // who changed it; "" if the invitation did
	// Expires is until when the unused key of a bundle is accepted. It is zero once the node has connected,
	// and for a key that does not expire.
	Expires time.Time `json:"expires,omitzero"`
}

// Expired reports whether the child never connected and its key is no longer accepted.
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

// Invitation lets one node become a child. The secret of its key is not stored here.
type Invitation struct {
	ID       string          `json:"id"`
	Public   string          `json:"public"`         // nkey in the code
	Approved bool            `json:"approved"`       // the child needs no approval
	Name     string          `json:"name,omitempty"` // the child's name; "" lets it choose
	Prefix   point.Path      `json:"prefix"`         // PrefixOfName stands for the child's name
	Grants   identity.Grants `json:"grants"`
	Created  time.Time       `json:"created"`
	Expires  time.Time       `json:"expires"`
	By       string          `json:"by,omitempty"`     // who created it
	Used     time.Time       `json:"used,omitzero"`    // zero: not yet
	UsedBy   string          `json:"used_by,omitzero"` // the child's name
	Canceled time.Time       `json:"canceled,omitzero"`
}

// PrefixOfName in an invitation's prefix stands for the name given to the child.
const PrefixOfName = "{name}"

// Open returns nil if the invitation can be used, or a fault.Refused error with the reason.
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

// ChildStorage stores children and invitations. Methods are safe for concurrent use and durable when they
// return.
type ChildStorage interface {
	// PutChild adds a child, or replaces the one of the same name, and with it, if given, an invitation; both
	// or none.
	PutChild(ctx context.Context, c Child, i *Invitation) error
	// Children lists all children by name, including revoked ones.
	Children(ctx context.Context) ([]Child, error)
	// DropChild removes a child; fault.NotFound if there is none.
	DropChild(ctx context.Context, name string) error
	// PutInvitation adds an invitation, or replaces the one with the same ID.
	PutInvitation(ctx context.Context, i Invitation) error
	// Invitations lists all invitations, newest first.
	Invitations(ctx context.Context) ([]Invitation, error)
	// DropInvitation removes an invitation; fault.NotFound if there is none.
	DropInvitation(ctx context.Context, id string) error
}

var (
	errChildPrefix = errors.New("must be a path such as campus/b1, without * and braces; in an invitation {name} stands for the node's name")
	errChildGrants = errors.New("a node can be granted publish, record, subscribe, read, command and call, but neither to administer nor to hold")
)

// CheckPrefix returns nil, or a fault.Invalid error that describes the prefix of a node.
func CheckPrefix(prefix point.Path) error {
	if prefix == "" {
		return nil
	}
	if err := prefix.Validate(); err != nil || strings.ContainsAny(string(prefix), "*{}") {
		return fault.E("registry.CheckPrefix", fault.Invalid, "prefix", errors.Join(errChildPrefix, err))
	}
	return nil
}

// CheckChildGrants returns nil, or a fault.Invalid error about grants that a child cannot have.
func CheckChildGrants(g *identity.Grants) error {
	if g.Administer || len(g.Hold) > 0 {
		return fault.E("registry.CheckChildGrants", fault.Invalid, "grants", errChildGrants)
	}
	return identity.CheckGrants(g)
}
