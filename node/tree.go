package node

import (
	"context"
	"encoding/json"
	"slices"

	"voltbus/audit/report"
	"voltbus/operation"
	"voltbus/uplink/descendants"
	uplinkledger "voltbus/uplink/ledger"
	"voltbus/uplink/lineage"
	"voltbus/uplink/live"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
)

// openTree connects requests between this node and those around it.
func openTree(_ context.Context, n *Node) error {
	if _, err := allowed(&n.opts.Config.Uplink); err != nil {
		return err
	}
	n.lineage = lineage.New(n.opts.Config.Node.Name, n.neighbours.Parent)
	n.descendants = &descendants.Descendants{
		Name: n.opts.Config.Node.Name, Children: n.children, Neighbours: n.neighbours, Receiver: n.receiver, Served: n.served,
		Present: n.bus.Present, Live: func() map[string]live.Status { return n.liveHub.Status() },
	}
	n.nodes = replica.NewTable(replica.TableConfig{
		Children: n.descendants.Watch, Place: n.sender.Above, Lineage: n.lineage, Outages: n.descendants.Outages, Refused: n.report.RefusedNode, Now: now,
	})
	n.descendants.Table = n.nodes
	n.nodes.Load(n.kept)
	n.tree = tree.New(tree.Config{
		Name: n.opts.Config.Node.Name, Below: n.nodes, Lineage: n.lineage, Parent: n.neighbours.Parent,
		Grants: n.neighbours.Grants, Up: n.neighbours.AskParent, Down: n.neighbours.AskChild, Here: func(ctx context.Context, v *tree.RemoteCaller, r *tree.Request) (json.RawMessage, error) {
			return n.answerer.Answer(ctx, v, r)
		},
		Reads: func(method string) bool { return slices.Contains(readers(), method) },
		Tell:  func(e tree.Event) { reportRemote(n.asked, n.report, e) },
	})
	n.below = newFederation(n)
	if n.history.Store() != nil {
		n.wide = n.below
	}
	n.ledgers = uplinkledger.New(uplinkledger.Config{
		Name: n.opts.Config.Node.Name, Own: n.account.Own, Stores: n.history.Store() != nil, Above: func() map[string]uint64 { return heldAbove(n.sender) }, Below: n.nodes.Accounts,
		Refresh: func(ctx context.Context) { n.reporter.Refresh(ctx) }, Now: now,
	})
	return nil
}

// Tree returns the client for requests to the nodes around this one.
func (n *Node) Tree() *tree.Tree { return n.tree }

// Lineage returns the known ancestors.
func (n *Node) Lineage() *lineage.Lineage { return n.lineage }

// Subtree returns the known descendants.
func (n *Node) Subtree() *replica.Table { return n.nodes }

// reportRemote records a request through the tree in the audit log.
func reportRemote(asked *operation.Table, to *report.Reporter, e tree.Event) {
	if d, is := asked.Remote(e.Request.Method); is {
		to.RemoteRequest(&e, &d)
		return
	}
	to.RemoteRequest(&e, nil)
}
