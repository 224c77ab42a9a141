// Package requester keeps track of the requesters of commands: whether each is connected, through which node, and which commands it keeps
// when its rights change.
package requester

import (
	"slices"
	"strings"

	"voltbus/bus"
	"voltbus/control/access"
	"voltbus/control/dispatch"
	"voltbus/identity"
	"voltbus/identity/registry"
	"voltbus/uplink/lineage"
	"voltbus/uplink/tree"
)

// Tree knows other nodes. Package uplink/tree implements it.
type Tree interface {
	// Reaches reports whether a node is connected, through any number of others.
	Reaches(node string) bool
	// By returns the neighbour that leads to a node.
	By(node string) tree.Hop
}

// Neighbours are the nodes next to this one. Package uplink/neighbour implements it.
type Neighbours interface {
	Parent() (lineage.Parent, bool)
	Grants(from tree.Hop) (identity.Grants, error)
}

// Directory describes requesters. All fields must be set.
type Directory struct {
	Online     func() []bus.Presence
	Children   *registry.Children
	Tree       Tree
	Neighbours Neighbours
}

// Present returns a function that reports whether a requester is connected: an agent while it is on the bus, a caller of
// another node while that is reachable.
func (d *Directory) Present() func(requester string) bool {
	names := map[string]bool{}
	for _, p := range d.Online() {
		names[p.Name] = true
	}
	if parent, is := d.Neighbours.Parent(); is && parent.Online { // all on whose behalf it asks without naming them
		names[identity.ChildPrefix+parent.Name] = true
	}
	return func(requester string) bool {
		if p, err := identity.ParsePrincipal(requester); err == nil && p.Node != "" {
			return d.Tree.Reaches(p.Node)
		}
		agent, is := strings.CutPrefix(requester, identity.AgentKind+":")
		return !is || names[agent]
	}
}

// cameBy returns the neighbour through which a requester asks, and its node; false for a requester of this node.
func (d *Directory) cameBy(requester string) (from tree.Hop, node string, remote bool) {
	if p, err := identity.ParsePrincipal(requester); err == nil {
		return d.Tree.By(p.Node), p.Node, p.Node != ""
	}
	name, is := strings.CutPrefix(requester, identity.AgentKind+":"+identity.ChildPrefix)
	if _, err := d.Children.Child(name); is && err == nil {
		return tree.Hop{Name: name}, name, true
	}
	return tree.Hop{Name: name, Above: true}, name, is
}

// Dispatcher reviews what requesters hold, as package dispatch does.
type Dispatcher interface {
	Dismiss(requester string)
	Review(requester string, may dispatch.Rights)
	ReviewAll(judge dispatch.Judge)
}

// Reviewer ends what requesters hold without the right to. A nil Reviewer, of a node without control, does nothing.
type Reviewer struct {
	Directory  *Directory
	Dispatcher Dispatcher
}

// Agent reviews an agent whose rights have changed.
func (r *Reviewer) Agent(c registry.AgentChange) {
	if r == nil {
		return
	}
	switch c.What {
	case registry.AgentRevoked, registry.AgentRemoved:
		r.Dispatcher.Dismiss("agent:" + c.Before.Name)
	case registry.AgentGranted:
		who := access.Agent(&c.After)
		r.Dispatcher.Review(who.Name, dispatch.Rights{Command: who.Command, Reserve: who.Reserve})
	default:
	}
}

// Person reviews a person whose role has changed.
func (r *Reviewer) Person(name string, role identity.Role) {
	if r == nil {
		return
	}
	who := access.Person("person:"+name, role)
	if !role.Includes(identity.Operator) {
		r.Dispatcher.Dismiss(who.Name)
		return
	}
	r.Dispatcher.Review(who.Name, dispatch.Rights{Command: who.Command, Reserve: who.Reserve})
}

// Remote soon reviews the requesters of other nodes, since the rights of neighbours have changed. Everything of removed
// nodes ends.
func (r *Reviewer) Remote(gone ...string) {
	if r == nil {
		return
	}
	r.Dispatcher.ReviewAll(func(requester string) (*dispatch.Rights, bool) {
		from, node, remote := r.Directory.cameBy(requester)
		if !remote {
			return nil, false
		}
		grants, err := r.Directory.Neighbours.Grants(from)
		if err != nil || slices.Contains(gone, node) {
			return nil, true
		}
		who := access.RemoteCaller(requester, &grants)
		return &dispatch.Rights{Command: who.Command, Reserve: who.Reserve}, true
	})
}
