package registry

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

// InvitationOf returns the invitation with a key, including one that can no longer be used.
func (r *Children) InvitationOf(public string) (Invitation, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if i := r.inviteKey[public]; i != nil {
		return *i, true
	}
	return Invitation{}, false
}

// Invitations lists usable and recently ended invitations, newest first.
func (r *Children) Invitations() []Invitation {
	r.mu.RLock()
	list := make([]Invitation, 0, len(r.invites))
	for _, i := range r.invites {
		list = append(list, *i)
	}
	r.mu.RUnlock()
	slices.SortFunc(list, func(a, b Invitation) int {
		return cmp.Or(b.Created.Compare(a.Created), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Invite creates an invitation; the caller sets Approved, Name, Prefix, Grants, Expires and By. It also
// returns the secret, which is not stored. Invalid requests are fault.Invalid, a name in use is
// fault.Conflict.
func (r *Children) Invite(ctx context.Context, wish Invitation) (Invitation, InviteSecret, error) {
	const op = "registry.Invite"
	secret := NewInviteSecret()
	if err := checkWish(&wish, r.now()); err != nil {
		return wish, secret, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	if err := r.prune(ctx); err != nil {
		return wish, secret, err
	}
	if _, err := r.Child(wish.Name); wish.Name != "" && err == nil {
		return wish, secret, fault.E(op, fault.Conflict, wish.Name, errChildTaken)
	}
	r.mu.RLock()
	many := len(r.invites) >= maxInvitations
	r.mu.RUnlock()
	if many {
		return wish, secret, fault.E(op, fault.Conflict, "invitations", errManyInvites)
	}
	key, err := secret.Key()
	if err != nil {
		return wish, secret, err
	}
	wish.ID, wish.Public, wish.Created = InviteID(key.Public()), key.Public(), r.now()
	wish.Used, wish.UsedBy, wish.Canceled = time.Time{}, "", time.Time{}
	return wish, secret, r.keep(ctx, wish)
}

func checkWish(wish *Invitation, now time.Time) error {
	if wish.Name != "" {
		if err := identity.CheckChildName(wish.Name); err != nil {
			return err
		}
	}
	if err := CheckPrefix(prefixFor(wish.Prefix, "x")); err != nil {
		return err
	}
	if life := wish.Expires.Sub(now); life < leastLife-time.Second || life > mostLife+time.Second {
		return fault.E("registry.Invite", fault.Invalid, "expires", errLife)
	}
	return CheckChildGrants(&wish.Grants)
}

// prefixFor puts the child's name into the prefix of an invitation.
func prefixFor(prefix point.Path, name string) point.Path {
	return point.Path(strings.ReplaceAll(string(prefix), PrefixOfName, name))
}

// keep stores an invitation durably, then publishes it.
func (r *Children) keep(ctx context.Context, i Invitation) error {
	if err := r.storage.PutInvitation(ctx, i); err != nil {
		return err
	}
	r.mu.Lock()
	r.invites[i.ID], r.inviteKey[i.Public] = &i, &i
	r.mu.Unlock()
	r.announce(ChildChange{Keys: []string{i.Public}})
	return nil
}

// prune removes invitations that ended long ago.
func (r *Children) prune(ctx context.Context) error {
	limit := r.now().Add(-keepInvitation)
	for _, i := range r.Invitations() {
		if i.Expires.After(limit) {
			continue
		}
		if err := r.storage.DropInvitation(ctx, i.ID); err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		r.mu.Lock()
		delete(r.invites, i.ID)
		delete(r.inviteKey, i.Public)
		r.mu.Unlock()
	}
	return nil
}

// CancelInvitation ends an invitation; fault.NotFound if there is none of the ID, fault.Conflict if it
// was used.
func (r *Children) CancelInvitation(ctx context.Context, id string) (Invitation, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.mu.RLock()
	found := r.invites[strings.ToLower(id)]
	r.mu.RUnlock()
	if found == nil {
		return Invitation{}, fault.E("registry.CancelInvitation", fault.NotFound, id, errNoInvitation)
	}
	i := *found
	if !i.Used.IsZero() {
		return i, fault.E("registry.CancelInvitation", fault.Conflict, id, errInviteUsed)
	}
	if i.Canceled.IsZero() {
		i.Canceled = r.now()
	}
	return i, r.keep(ctx, i)
}

// Application is a node's request to become a child.
type Application struct {
	Name    string // the name it asks for; "" for the invitation's, or else Node
	Node    string // its own name
	Public  string // the key that it generated
	Version string // version of its program
	Proof   []byte // signature of JoinText by that key
}

// JoinText is what a new child signs with its key.
func JoinText(invitation, name, node, public string) []byte {
	return []byte("voltbus enrol 1\n" + invitation + "\n" + name + "\n" + node + "\n" + public)
}

// Enrol accepts an application from the holder of an invitation's key, and uses the invitation up. Repeating
// the same application, after a lost answer, gives the same child. It fails with fault.Refused if the
// invitation cannot be used, fault.Conflict if the name or the key is taken; the invitation then remains
// usable.
func (r *Children) Enrol(ctx context.Context, inviteKey string, a Application) (Child, error) {
	const op = "registry.Enrol"
	r.changing.Lock()
	defer r.changing.Unlock()
	invite, known := r.InvitationOf(inviteKey)
	if !known {
		return Child{}, fault.E(op, fault.Refused, "invitation", errNoInvitation)
	}
	if !identity.Verify(a.Public, JoinText(invite.ID, a.Name, a.Node, a.Public), a.Proof) {
		return Child{}, fault.E(op, fault.Refused, "proof", errProof)
	}
	if c, again := r.ByKey(a.Public); again && c.Invitation == invite.ID && c.Public == a.Public && !invite.Used.IsZero() {
		return c, nil
	}
	if err := invite.Open(r.now()); err != nil {
		return Child{}, err
	}
	if a.Name != "" && invite.Name != "" && a.Name != invite.Name {
		return Child{}, fault.E(op, fault.Conflict, "name", errOtherName)
	}
	name := cmp.Or(invite.Name, a.Name, a.Node)
	c := Child{
		Name: name, Public: a.Public, State: ChildPending, Prefix: prefixFor(invite.Prefix, name), Grants: invite.Grants,
		Version: a.Version, Invitation: invite.ID, Joined: r.now(), Changed: r.now(),
	}
	if invite.Approved {
		c.State = ChildApproved
	}
	if err := checkChild(&c); err != nil {
		return Child{}, err
	}
	if err := r.free(op, &c); err != nil {
		return Child{}, err
	}
	invite.Used, invite.UsedBy = r.now(), name
	return c, r.put(ctx, ChildChange{After: c}, &invite)
}
