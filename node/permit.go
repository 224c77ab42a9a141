package node

import (
	"context"

	"voltbus/bus"
	"voltbus/identity"
)

// admit says what the holder of a key may do on the bus: an agent what it was granted, a member of
// the node listen to what devices report.
func (n *Node) admit(publicKey string) (bus.Permit, bool) {
	if a, known := n.agents.ByKey(publicKey); known {
		return bus.AgentPermit(&a), a.Active()
	}
	members, err := n.catalog.Members(context.Background())
	if err != nil {
		n.log.Error("bus members cannot be read", "err", err)
		return bus.Permit{}, false
	}
	for _, m := range members {
		if m.Public == publicKey {
			return bus.ReaderPermit(m.Name), m.Role.Includes(identity.Viewer)
		}
	}
	return bus.Permit{}, false
}
