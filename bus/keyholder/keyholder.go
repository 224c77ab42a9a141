// Package keyholder manages the bus permissions of key holders, and applies changes to live connections.
package keyholder

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"voltbus/bus"
	"voltbus/bus/permit"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/wire"
)

// Members lists the members of the node. Package catalog has it.
type Members interface {
	Members(ctx context.Context) ([]identity.Member, error)
}

// Source knows the keys that are admitted. All fields must be there.
type Source struct {
	Agents   *registry.Agents
	Children *registry.Children
	Members  Members
	Now      func() time.Time
	Log      *slog.Logger
}

// Of says what the holder of a key may do on the bus: an agent and a child what they were granted,
// the holder of an invitation ask to be enrolled, a member of the node listen to what devices report.
func (s *Source) Of(publicKey string) (permit.Permit, bool) {
	if a, known := s.Agents.ByKey(publicKey); known {
		return permit.Agent(&a), a.Active()
	}
	if c, known := s.Children.ByKey(publicKey); known {
		return permit.Child(&c, publicKey, s.Now()), true
	}
	if i, known := s.Children.InvitationOf(publicKey); known {
		return permit.Invitation(&i), true
	}
	members, err := s.Members.Members(context.Background())
	if err != nil {
		s.Log.Error("bus members cannot be read", "err", err)
		return permit.Permit{}, false
	}
	for _, m := range members {
		if m.Public == publicKey {
			return permit.Reader(m.Name), m.Role.Includes(identity.Viewer)
		}
	}
	return permit.Permit{}, false
}

// Changes makes changes of rights hold. All fields must be there.
type Changes struct {
	Bus    *bus.Bus
	Forget func(agent string) // is told of an agent that was removed
	Log    *slog.Logger
}

// AgentChanged applies a change of an agent to the bus, and notifies the connections concerned.
func (c *Changes) AgentChanged(a registry.AgentChange) {
	for _, key := range []string{a.Before.Public, a.After.Public} {
		if key != "" {
			c.Bus.Repermit(key)
		}
	}
	if a.What == registry.AgentRemoved {
		c.Forget(a.Before.Name)
	}
	for _, name := range c.concerned(a) {
		if err := c.Bus.Notify(name, wire.NewsStanding, nil); err != nil {
			c.Log.Warn("news of a grant are not told", slog.String("agent", name), slog.Any("err", err))
		}
	}
}

// concerned lists whose effective permissions a change alters: the agent's own, and that of those whom it may
// call, who judge it. An administrator may call everybody.
func (c *Changes) concerned(change registry.AgentChange) []string {
	seen := map[string]bool{}
	var names []string
	for _, a := range []registry.Agent{change.Before, change.After} {
		list := []string{a.Name}
		for _, g := range a.Grants.Call {
			list = append(list, g.Agent)
		}
		if a.Grants.Administer {
			for _, p := range c.Bus.Online() {
				list = append(list, p.Name)
			}
		}
		for _, name := range list {
			if name != "" && name != wire.NodeName && !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// ChildChanged makes a change of a child or an invitation hold on the bus.
func (c *Changes) ChildChanged(change registry.ChildChange) {
	for _, key := range change.Keys {
		c.Bus.Repermit(key)
	}
	before, after := change.Before.All(), change.After.All()
	if change.Before.Name != "" && (change.Before.Prefix != change.After.Prefix || !slices.Equal(before.Record, after.Record)) {
		// A child learns its prefix when it greets, and then sends what was refused before.
		c.Bus.Drop(change.After.Public, "the place of its points has changed")
	}
}
