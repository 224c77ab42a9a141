package node

import (
	"context"
	"encoding/json"
	"slices"

	"voltbus/api/answer"
	"voltbus/audit"
	"voltbus/identity"
	"voltbus/operation/declared"
	"voltbus/uplink/enrol"
)

// openChildren lets other nodes become children of this one, and this one the child of another.
func (n *Node) openChildren(ctx context.Context) error {
	var err error
	if n.children, err = identity.OpenChildren(ctx, n.catalog, now); err != nil {
		return err
	}
	n.host = enrol.NewHost(n.opts.Config.Node.Name, n.children, n.identity.Certificates.Authority, n.tellOfEnrolment)
	n.parent, err = enrol.OpenParent(n.opts.Config.Node.Data, now)
	return err
}

// childChanged makes a change of a child or an invitation hold on the bus.
func (n *Node) childChanged(c identity.ChildChange) {
	for _, key := range c.Keys {
		n.bus.Repermit(key)
	}
	if n.liveHub != nil {
		n.liveHub.Changed()
	}
	if c.Before.State == identity.ChildApproved && c.After.State != identity.ChildApproved {
		n.reviewFar(n.tree.Branch(c.Before.Name)...)
	} else if c.Before.State == identity.ChildApproved {
		n.reviewFar()
	}
	before, after := c.Before.All(), c.After.All()
	if c.Before.Name != "" && (c.Before.Prefix != c.After.Prefix || !slices.Equal(before.Record, after.Record)) {
		// A child hears of its prefix when it greets, and then sends what was refused before.
		n.bus.Drop(c.After.Public, "the place of its points has changed")
	}
}

// tellOfEnrolment writes what a child did into the audit log.
func (n *Node) tellOfEnrolment(ctx context.Context, d enrol.Deed) {
	e := audit.Entry{Actor: busActor(d.Who), Action: d.Action, Subject: d.Child, Outcome: "ok"}
	if d.Err != nil {
		e.Outcome = d.Err.Error()
	}
	e.Detail, _ = json.Marshal(struct { // texts
		Fingerprint string `json:"fingerprint"`
		Invitation  string `json:"invitation,omitempty"`
		State       string `json:"state,omitempty"`
	}{d.Key, d.Invite, string(d.State)})
	n.tell(ctx, e)
}

// aboutChildren says how what is asked about the nodes around this one is done.
func aboutChildren(n *Node, p *declared.Parts) {
	certs := n.identity.Certificates
	p.Parent.Parent = parent{n}
	p.Children.Children, p.Children.Online, p.Children.Now = n.children, n.connections, now
	p.Children.Refusals = func() map[string]error {
		refusals := map[string]error{}
		for name, counts := range n.receiver.Status() {
			refusals[name] = counts.Refusal
		}
		return refusals
	}
	p.Children.Door.Node, p.Children.Door.Authority = n.opts.Config.Node.Name, certs
	p.Children.Door.Addresses = func() []string {
		return append([]string{}, enrol.Reachable(n.bus.Addr(), identity.LocalNames())...)
	}
}

// connections returns who is connected, by the name as a caller.
func (n *Node) connections() map[string]*answer.AgentOnline {
	out := map[string]*answer.AgentOnline{}
	for _, p := range n.bus.Online() {
		out[p.Name] = &answer.AgentOnline{Since: p.Since.UTC(), Address: p.Address, In: answer.Traffic(p.In), Out: answer.Traffic(p.Out)}
	}
	return out
}
