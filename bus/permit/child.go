package permit

import (
	"errors"
	"fmt"
	"time"

	"voltbus/fault"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// pendingStay is how long a child that waits for approval is kept on a connection in quarantine.
const pendingStay = 10 * time.Minute

var (
	errPending  = errors.New("waits until somebody approves it there: voltbus children approve")
	errRevoked  = errors.New("was shut out there, or denied; ask who runs that node, and join again with a new code")
	errReplaced = errors.New("this key was replaced by a new one and is refused; if this is a copy or an old backup of the node, join it again with a new code")
)

// errExpired is reported at both ends; the child goes on asking.
const errExpired = "its bundle was not used until %s and has expired; the operator of the parent renews it with voltbus children approve %s or " +
	"voltbus provision once more; nothing has to be done where the bundle is"

// Child returns what a child that shows a public key may do: one connection, on which it sends
// blocks, asks this node, is asked, and does what it was granted, and others for live messages alone. One that waits for approval, is shut
// out, shows a key that it had before, or one of a bundle that has expired by now, is kept in quarantine.
func Child(c *registry.Child, public string, now time.Time) Permit {
	const op = "bus.enter"
	caller := c.Caller()
	switch {
	case c.State == registry.ChildRevoked:
		return kept(caller, &Quarantine{Why: QuarantineRevoked, Err: fault.E(op, fault.Refused, c.Name, errRevoked)})
	case public != c.Public:
		return kept(caller, &Quarantine{Why: QuarantineReplaced, Err: fault.E(op, fault.Refused, c.Name, errReplaced)})
	case c.State != registry.ChildApproved:
		return kept(caller, &Quarantine{Why: QuarantinePending, Stay: pendingStay, Err: fault.E(op, fault.Unavailable, c.Name, fmt.Errorf(
			"%w %s, if its key is %s", errPending, c.Name, identity.KeyPrint(c.Public)))})
	}
	if c.Expired(now) {
		return kept(caller, &Quarantine{Why: QuarantineExpired, Err: fault.E(op, fault.Refused, c.Name, fmt.Errorf(errExpired, c.Expires.UTC().Format(time.RFC3339), c.Name))})
	}
	p := Agent(&registry.Agent{Name: caller, Grants: c.All()})
	p.Prompt, p.Beside = true, livePermit(caller)
	p.Publish = append(p.Publish, wire.UpSubject(caller, wire.NormalLane), wire.UpSubject(caller, wire.UrgentLane))
	return p.tidy()
}

func kept(name string, why *Quarantine) Permit {
	return Permit{Name: name, Exclusive: true, Quarantine: why}
}

// Invitation returns what the holder of an invitation's key may do: ask to be enrolled. Whether
// the invitation can still be used is checked when it asks, so that it learns the reason.
func Invitation(i *registry.Invitation) Permit {
	name := identity.InvitePrefix + i.ID
	return Permit{
		Name:      name,
		Publish:   []string{wire.CallSubject(wire.NodeName, name, wire.EnrolMethod)},
		Subscribe: []string{wire.InboxPrefix + wire.Token(name) + ".>"},
	}
}
