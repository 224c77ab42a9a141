package documents

import (
	"context"
	"errors"
	"slices"
	"strings"

	"voltbus/control/access"
	"voltbus/document"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/operation"
)

const agentOwner = "agent/"

var errPersonal = errors.New("are the documents of somebody else, who alone reads them, with administrators of this node")

// mayRead reports whether a person may read documents of an owner.
func mayRead(c *operation.Call, owner string) bool {
	return !document.Personal(owner) || (!c.Remote && (owner == document.OwnerOf(c.Name) || c.Role.Includes(identity.Administrator)))
}

// owned grants an agent access to its own documents, the default owner; to shared ones for reading; and to all with administer.
func owned(c *operation.Call, owner *string, change bool) error {
	if !c.IsAgent() {
		if !mayRead(c, *owner) {
			return fault.E("documents.owned", fault.Refused, *owner, errPersonal)
		}
		return nil
	}
	own := agentOwner + c.Agent
	switch {
	case *owner == "":
		*owner = own
	case *owner == own, c.Grants.Administer, *owner == document.Shared && !change:
	default:
		return fault.E("documents.owned", fault.Refused, *owner, &identity.Missing{Capability: "administer"})
	}
	return nil
}

// reads checks who may read documents of an owner.
func reads[In any](owner func(*In) *string) operation.Judge[In] {
	return func(_ context.Context, c *operation.Call, in *In) error { return owned(c, owner(in), false) }
}

// changes checks who may change a document.
func changes[In any](p *Part, key func(*In) *Key) operation.Judge[In] {
	return func(ctx context.Context, c *operation.Call, in *In) error {
		k := key(in)
		err := owned(c, &k.Owner, true)
		c.Did(document.Key(*k).String(), nil)
		if err != nil {
			return err
		}
		if err := document.Key(*k).Validate(); err != nil || c.IsAgent() {
			return err
		}
		return p.mayChange(ctx, c, document.Key(*k))
	}
}

// mayChange restricts documents of an agent, and those that they refer to, to callers who may do what the agents may.
func (p *Part) mayChange(ctx context.Context, c *operation.Call, k document.Key) error {
	owners := []string{k.Owner}
	if k.Owner == document.Shared {
		users, err := p.Documents.Users(ctx, k)
		if err != nil {
			return err
		}
		for _, u := range users {
			owners = append(owners, u.Owner)
		}
	}
	slices.Sort(owners)
	for _, owner := range slices.Compact(owners) {
		agent, is := strings.CutPrefix(owner, agentOwner)
		if !is || p.Agents == nil {
			continue
		}
		a, err := p.Agents.Agent(agent)
		if err != nil && !fault.Is(err, fault.NotFound) {
			return err
		}
		if err == nil {
			if err := access.MayShape(agent, &a.Grants, c.Role); err != nil {
				return err
			}
		}
	}
	return nil
}
