package node

import (
	"context"
	"log/slog"

	"voltbus/bus/permit"

	"voltbus/identity"
	"voltbus/wire"
)

// admit says what the holder of a key may do on the bus: an agent and a child what they were granted,
// the holder of an invitation ask to be enrolled, a member of the node listen to what devices report.
func (n *Node) admit(publicKey string) (permit.Permit, bool) {
	if a, known := n.agents.ByKey(publicKey); known {
		return permit.Agent(&a), a.Active()
	}
	if c, known := n.children.ByKey(publicKey); known {
		return permit.Child(&c, publicKey, now()), true
	}
	if i, known := n.children.InvitationOf(publicKey); known {
		return permit.Invitation(&i), true
	}
	members, err := n.catalog.Members(context.Background())
	if err != nil {
		n.log.Error("bus members cannot be read", "err", err)
		return permit.Permit{}, false
	}
	for _, m := range members {
		if m.Public == publicKey {
			return permit.Reader(m.Name), m.Role.Includes(identity.Viewer)
		}
	}
	return permit.Permit{}, false
}

// agentChanged makes a change of an agent hold on the bus, and tells those whom it concerns.
func (n *Node) agentChanged(c identity.AgentChange) {
	for _, key := range []string{c.Before.Public, c.After.Public} {
		if key != "" {
			n.bus.Repermit(key)
		}
	}
	if c.What == identity.AgentRemoved {
		n.service.Forget(c.Before.Name)
	}
	for _, name := range n.concerned(c) {
		if err := n.bus.Notify(name, wire.NewsStanding, nil); err != nil {
			n.log.Warn("news of a grant are not told", slog.String("agent", name), slog.Any("err", err))
		}
	}
}

// concerned lists whose standing a change alters: the agent's own, and that of those whom it may
// call, who judge it. An administrator may call everybody.
func (n *Node) concerned(c identity.AgentChange) []string {
	told := map[string]bool{}
	var names []string
	for _, a := range []identity.Agent{c.Before, c.After} {
		list := []string{a.Name}
		for _, g := range a.Grants.Call {
			list = append(list, g.Agent)
		}
		if a.Grants.Administer {
			for _, p := range n.bus.Online() {
				list = append(list, p.Name)
			}
		}
		for _, name := range list {
			if name != "" && name != wire.NodeName && !told[name] {
				told[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}
