package node

import (
	"slices"
	"strings"

	"voltbus/control/access"
	"voltbus/control/dispatch"
	"voltbus/identity"
	"voltbus/uplink/tree"
)

// requestersOnline tells of requesters of control whether they are there: an agent while it is on the
// bus, somebody of another node while that is reached.
func (n *Node) requestersOnline() func(requester string) bool {
	names := map[string]bool{}
	for _, p := range n.bus.Online() {
		names[p.Name] = true
	}
	if above, is := n.parentNow(); is && above.Online { // all for whom it asks without saying who they are
		names[identity.ChildPrefix+above.Name] = true
	}
	return func(requester string) bool {
		if p, err := identity.ParsePrincipal(requester); err == nil && p.Node != "" {
			return n.tree.Reaches(p.Node)
		}
		agent, is := strings.CutPrefix(requester, identity.AgentKind+":")
		return !is || names[agent]
	}
}

// cameBy returns the neighbour by which a requester of control asks, and its node; false for one of this
// node.
func (n *Node) cameBy(requester string) (from tree.Hop, node string, far bool) {
	if p, err := identity.ParsePrincipal(requester); err == nil {
		return n.tree.By(p.Node), p.Node, p.Node != ""
	}
	name, is := strings.CutPrefix(requester, identity.AgentKind+":"+identity.ChildPrefix)
	if _, err := n.children.Child(name); is && err == nil {
		return tree.Hop{Name: name}, name, true
	}
	return tree.Hop{Name: name, Above: true}, name, is
}

// reviewFar ends soon what is held from other nodes and may not be held any more, since what neighbours
// may do here has changed. Of the nodes that are gone everything ends.
func (n *Node) reviewFar(gone ...string) {
	if n.desk == nil {
		return
	}
	n.desk.ReviewAll(func(requester string) (*dispatch.Rights, bool) {
		from, node, far := n.cameBy(requester)
		if !far {
			return nil, false
		}
		grants, err := n.grantsOf(from)
		if err != nil || slices.Contains(gone, node) {
			return nil, true
		}
		who := access.Visitor(requester, &grants)
		return &dispatch.Rights{Command: who.Command, Reserve: who.Reserve}, true
	})
}
