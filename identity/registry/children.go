package registry

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/point"
)

var (
	errNoChild      = errors.New("there is no node of this name below this one; voltbus children shows them")
	errNoInvitation = errors.New("there is no such invitation; voltbus invite list shows them")
	errChildTaken   = errors.New("there is a node of this name already; choose another one with --name, or have the other one removed")
	errChildKey     = errors.New("another node has this key; make a new one: a key belongs to one node")
	errOtherName    = errors.New("the code is for a node of another name; leave --name away")
	errProof        = errors.New("the signature does not fit the key")
	errManyInvites  = errors.New("are open already; cancel some with voltbus invite cancel")
	errLife         = errors.New("must be between a minute and a year")
	errNotPending   = errors.New("does not wait for approval; voltbus children shows its state")
)

const (
	maxInvitations = 10_000               // kept
	keepInvitation = 30 * 24 * time.Hour  // after its end, so that a late user is told why it is refused
	leastLife      = time.Minute          // of an invitation, and of the key of a bundle
	mostLife       = 365 * 24 * time.Hour // of an invitation
	maxPrevious    = 32                   // remembered keys of a child
	maxVersion     = 100                  // bytes of the version that a child reports
)

// ChildChange describes a change of a child, or of an invitation if both are zero.
type ChildChange struct {
	Before, After Child // zero when it was added, or removed
	Keys          []string
}

// Children is the registry of this node's children and invitations. It keeps them in memory, backed by
// durable storage. It is safe for concurrent use.
type Children struct {
	storage ChildStorage
	now     func() time.Time

	changing sync.Mutex // one change at a time, up to its announcement

	mu        sync.RWMutex
	known     childIndex
	invites   map[string]*Invitation
	inviteKey map[string]*Invitation
	listeners []func(ChildChange)
}

// OpenChildren reads children and invitations from the storage. now is the clock, such as time.Now.
func OpenChildren(ctx context.Context, storage ChildStorage, now func() time.Time) (*Children, error) {
	children, err := storage.Children(ctx)
	if err != nil {
		return nil, err
	}
	invitations, err := storage.Invitations(ctx)
	if err != nil {
		return nil, err
	}
	r := &Children{
		storage: storage, now: now, known: childIndex{byName: map[string]*Child{}, byKey: map[string]*Child{}},
		invites: map[string]*Invitation{}, inviteKey: map[string]*Invitation{},
	}
	for i := range children {
		r.known.enter(&children[i])
	}
	for i := range invitations {
		r.invites[invitations[i].ID], r.inviteKey[invitations[i].Public] = &invitations[i], &invitations[i]
	}
	return r, nil
}

// Notify calls f with every change, after it takes effect and before the method that made it returns. f must
// not change the registry. Call it before the registry is used.
func (r *Children) Notify(f func(ChildChange)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listeners = append(r.listeners, f)
}

// Child returns the child of the name; fault.NotFound if there is none.
func (r *Children) Child(name string) (Child, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if c := r.known.byName[strings.ToLower(name)]; c != nil {
		return *c, nil
	}
	return Child{}, fault.E("registry.Child", fault.NotFound, name, errNoChild)
}

// ByKey returns the child that has, or had, the public key, whatever its state.
func (r *Children) ByKey(public string) (Child, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if c := r.known.byKey[public]; c != nil {
		return *c, true
	}
	return Child{}, false
}

// List returns all children by name, including revoked ones.
func (r *Children) List() []Child {
	r.mu.RLock()
	list := make([]Child, 0, len(r.known.byName))
	for _, c := range r.known.byName {
		list = append(list, *c)
	}
	r.mu.RUnlock()
	slices.SortFunc(list, func(a, b Child) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

// Add registers a child whose key was generated elsewhere, as approved. A wrong name, key, prefix, grant or
// expiry is fault.Invalid, a name or key in use fault.Conflict. With an expiry, a child of that name that
// never connected is renewed: the same key gets the new expiry, and an expired one may be replaced by another
// key; prefix and grants stay.
func (r *Children) Add(ctx context.Context, c Child) (Child, error) {
	if err := checkChild(&c); err != nil {
		return Child{}, err
	}
	if err := checkEnd(c.Expires, r.now()); err != nil {
		return Child{}, err
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	if known, err := r.Child(c.Name); err == nil && r.renewable(&known, &c) {
		after := renewed(known, &c, r.now())
		return after, r.put(ctx, ChildChange{Before: known, After: after}, nil)
	}
	if err := r.free("registry.AddChild", &c); err != nil {
		return Child{}, err
	}
	c.State, c.Joined, c.Changed = ChildApproved, r.now(), r.now()
	return c, r.put(ctx, ChildChange{After: c}, nil)
}

// checkChild checks the fields of a child to add.
func checkChild(c *Child) error {
	if err := identity.CheckChildName(c.Name); err != nil {
		return err
	}
	if !identity.IsPublicKey(c.Public) {
		return fault.E("registry.checkChild", fault.Invalid, "public", errPublic)
	}
	if err := CheckPrefix(c.Prefix); err != nil {
		return err
	}
	c.Version = clipText(c.Version, maxVersion)
	return CheckChildGrants(&c.Grants)
}

func clipText(s string, most int) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return -1
		}
		return c
	}, s)
	return strings.ToValidUTF8(s[:min(len(s), most)], "")
}

// free reports whether the name and the key are unused.
func (r *Children) free(op string, c *Child) error {
	if _, err := r.Child(c.Name); err == nil {
		return fault.E(op, fault.Conflict, c.Name, errChildTaken)
	}
	if _, taken := r.ByKey(c.Public); taken {
		return fault.E(op, fault.Conflict, "public", errChildKey)
	}
	return nil
}

// Approve admits a pending child, readmits a revoked one, and prolongs the expired key of a bundle for
// another BundleLife. by is the actor.
func (r *Children) Approve(ctx context.Context, name, by string) (Child, error) {
	return r.alter(ctx, name, func(c *Child) error {
		expired := c.Expired(r.now())
		if expired {
			c.Expires = r.now().Add(BundleLife)
		}
		if c.State != ChildApproved || expired {
			c.State, c.By, c.Changed = ChildApproved, by, r.now()
		}
		return nil
	})
}

// Revoke shuts a child out: its connection ends, and its keys are refused. Its name stays in use until the
// child is removed. It is no error if it was revoked before.
func (r *Children) Revoke(ctx context.Context, name, by string) (Child, error) {
	return r.alter(ctx, name, func(c *Child) error {
		if c.State != ChildRevoked {
			c.State, c.By, c.Changed = ChildRevoked, by, r.now()
		}
		return nil
	})
}

// Deny is Revoke for a child pending approval; fault.Conflict for any other.
func (r *Children) Deny(ctx context.Context, name, by string) (Child, error) {
	return r.alter(ctx, name, func(c *Child) error {
		if c.State != ChildPending {
			return fault.E("registry.Deny", fault.Conflict, name, errNotPending)
		}
		c.State, c.By, c.Changed = ChildRevoked, by, r.now()
		return nil
	})
}

// Regrant calls change to edit the grants of a child, effective at once. change must not edit slices and maps
// in place.
func (r *Children) Regrant(ctx context.Context, name string, change func(*identity.Grants) error) (Child, error) {
	return r.alter(ctx, name, func(c *Child) error {
		if err := change(&c.Grants); err != nil {
			return err
		}
		return CheckChildGrants(&c.Grants)
	})
}

// Confine gives a child another prefix, effective at once.
func (r *Children) Confine(ctx context.Context, name string, prefix point.Path) (Child, error) {
	return r.alter(ctx, name, func(c *Child) error {
		c.Prefix = prefix
		return CheckPrefix(prefix)
	})
}

// Rotate replaces the key of a child; the old one is refused from now on. It is no error if the child already
// has the new one. proof is the signature of RotateText by the new key, consent by the old one.
func (r *Children) Rotate(ctx context.Context, name, public string, proof, consent []byte) (Child, error) {
	const op = "registry.Rotate"
	return r.alter(ctx, name, func(c *Child) error {
		switch other, taken := r.ByKey(public); {
		case !identity.IsPublicKey(public):
			return fault.E(op, fault.Invalid, "public", errPublic)
		case c.Public == public:
			return nil
		case taken:
			return fault.E(op, fault.Conflict, "public", rotateTaken(&other, c))
		}
		text := RotateText(c.Name, c.Public, public)
		if !identity.Verify(public, text, proof) || !identity.Verify(c.Public, text, consent) {
			return fault.E(op, fault.Refused, name, errProof)
		}
		c.replaceKey(public)
		c.Expires = time.Time{}
		return nil
	})
}

func rotateTaken(other, c *Child) error {
	if other.Name == c.Name {
		return errOldKey
	}
	return errChildKey
}

var errOldKey = errors.New("this node had the key before; make a new one")

// RotateText is what both keys sign when a child changes its key.
func RotateText(name, before, after string) []byte {
	return []byte("voltbus rotate 1\n" + name + "\n" + before + "\n" + after)
}

func (r *Children) alter(ctx context.Context, name string, change func(*Child) error) (Child, error) {
	r.changing.Lock()
	defer r.changing.Unlock()
	before, err := r.Child(name)
	if err != nil {
		return Child{}, err
	}
	after := before
	if err := change(&after); err != nil {
		return Child{}, err
	}
	return after, r.put(ctx, ChildChange{Before: before, After: after}, nil)
}

// put stores a change durably, with that of an invitation if given, then publishes it.
func (r *Children) put(ctx context.Context, change ChildChange, invite *Invitation) error {
	if err := r.storage.PutChild(ctx, change.After, invite); err != nil {
		return err
	}
	r.mu.Lock()
	if old := r.known.byName[strings.ToLower(change.After.Name)]; old != nil {
		r.known.leave(old)
	}
	r.known.enter(&change.After)
	if invite != nil {
		r.invites[invite.ID], r.inviteKey[invite.Public] = invite, invite
	}
	r.mu.Unlock()
	r.announce(change)
	return nil
}

// announce reports a change, with all keys that it concerns.
func (r *Children) announce(change ChildChange) {
	for _, c := range []Child{change.Before, change.After} {
		for _, key := range append(slices.Clone(c.Previous), c.Public) {
			if key != "" && !slices.Contains(change.Keys, key) {
				change.Keys = append(change.Keys, key)
			}
		}
	}
	r.mu.RLock()
	listeners := r.listeners
	r.mu.RUnlock()
	for _, f := range listeners {
		f(change)
	}
}

// Remove removes a child; fault.NotFound if it does not exist. Its keys are then unknown.
func (r *Children) Remove(ctx context.Context, name string) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	before, err := r.Child(name)
	if err != nil {
		return err
	}
	if err := r.storage.DropChild(ctx, before.Name); err != nil {
		return err
	}
	r.mu.Lock()
	r.known.leave(&before)
	r.mu.Unlock()
	r.announce(ChildChange{Before: before})
	return nil
}
