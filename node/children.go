package node

import (
	"context"

	"voltbus/api/answer"
	"voltbus/bus"
	"voltbus/identity/pki"
	"voltbus/identity/registry"
	"voltbus/operation/declared"
	"voltbus/uplink/enrol"
	"voltbus/uplink/parent"
)

// openChildren lets other nodes become children of this one, and this node the child of another.
func openChildren(ctx context.Context, n *Node) error {
	var err error
	if n.children, err = registry.OpenChildren(ctx, n.catalog, now); err != nil {
		return err
	}
	n.host = enrol.NewHost(n.opts.Config.Node.Name, n.children, n.identity.Certificates.Authority, n.report.Enrolment)
	n.parent, err = enrol.OpenParent(n.opts.Config.Node.Data, now)
	return err
}

// childChanged applies a change of a child or an invitation to open connections.
func childChanged(n *Node, c registry.ChildChange) {
	n.rights.ChildChanged(c)
	if n.liveHub != nil {
		n.liveHub.Changed()
	}
	switch {
	case c.Before.State != registry.ChildApproved:
	case c.After.State != registry.ChildApproved:
		n.reviewer.Remote(n.nodes.Branch(c.Before.Name)...)
	default:
		n.reviewer.Remote()
	}
}

// aboutChildren connects the operations on the nodes around this one.
func aboutChildren(n *Node, p *declared.Parts) {
	certs := n.identity.Certificates
	p.Parent.Parent = parent.New(parent.Options{
		Node: n.opts.Config.Node.Name, Version: n.opts.Version.Version, Fingerprint: certs.Fingerprint, Parent: n.parent, Sender: n.sender,
		Blocks: n.blocks, Live: n.liveUp, Left: func() { n.reviewer.Remote() },
	})
	p.Children.Children, p.Children.Online, p.Children.Now = n.children, func() map[string]*answer.AgentOnline { return connections(n.bus) }, now
	p.Children.Refusals = func() map[string]error {
		refusals := map[string]error{}
		for name, counts := range n.receiver.Status() {
			refusals[name] = counts.Refusal
		}
		return refusals
	}
	p.Children.Door.Node, p.Children.Door.Authority = n.opts.Config.Node.Name, certs
	p.Children.Door.Addresses = func() []string {
		return append([]string{}, enrol.Reachable(n.bus.Addr(), pki.LocalNames())...)
	}
}

// connections returns the connected clients, by their names as callers.
func connections(b *bus.Bus) map[string]*answer.AgentOnline {
	out := map[string]*answer.AgentOnline{}
	for _, p := range b.Online() {
		out[p.Name] = &answer.AgentOnline{Since: p.Since.UTC(), Address: p.Address, In: answer.Traffic(p.In), Out: answer.Traffic(p.Out)}
	}
	return out
}
