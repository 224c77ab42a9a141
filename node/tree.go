package node

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink"
	"voltbus/uplink/federation"
	uplinkledger "voltbus/uplink/ledger"
	"voltbus/uplink/lineage"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// openTree lets this node and those around it ask each other.
func openTree(_ context.Context, n *Node) error {
	if _, err := allowed(&n.opts.Config.Uplink); err != nil {
		return err
	}
	n.lineage = lineage.New(n.opts.Config.Node.Name, n.neighbours.Parent)
	n.nodes = replica.NewTable(replica.TableConfig{
		Children: n.watchChildren, Place: n.sender.Above, Lineage: n.lineage, Outages: n.outagesOf, Refused: n.report.RefusedNode, Now: now,
	})
	n.nodes.Load(n.kept)
	n.tree = tree.New(tree.Config{
		Name: n.opts.Config.Node.Name, Below: n.nodes, Lineage: n.lineage, Parent: n.neighbours.Parent,
		Grants: n.neighbours.Grants, Up: n.neighbours.AskParent, Down: n.neighbours.AskChild, Here: func(ctx context.Context, v *tree.Visitor, r *tree.Request) (json.RawMessage, error) {
			return n.answerer.Answer(ctx, v, r)
		},
		Reads: func(method string) bool { return slices.Contains(readers(), method) },
		Tell:  n.remoteRequest,
	})
	n.below = n.newFederation()
	if n.history.Store() != nil {
		n.wide = n.below
	}
	n.ledgers = uplinkledger.New(uplinkledger.Config{
		Name: n.opts.Config.Node.Name, Own: n.account.Own, Stores: n.history.Store() != nil, Above: func() map[string]uint64 { return heldAbove(n.sender) }, Below: n.nodes.Accounts,
		Refresh: func(ctx context.Context) { n.reporter.Refresh(ctx) }, Now: now,
	})
	return nil
}

// Tree asks the nodes around this one.
func (n *Node) Tree() *tree.Tree { return n.tree }

// Lineage returns what is known of the ancestors.
func (n *Node) Lineage() *lineage.Lineage { return n.lineage }

// Subtree returns what is known of the descendants.
func (n *Node) Subtree() *replica.Table { return n.nodes }

// ownOrigins lists the names of this node's origins.
func (n *Node) ownOrigins() []string {
	var names []string
	for _, lane := range n.recorder.Lanes() {
		names = append(names, lane.Origin)
	}
	return names
}

// watchChildren lists the children as childrenNow does, and notes those that are away.
func (n *Node) watchChildren() []replica.Child {
	list := n.neighbours.Children()
	for _, c := range list {
		if !c.Online {
			seen, _ := n.nodes.Look(c.Name, c.Name)
			if seen.Kept { // what was before this node ran says nothing of since when it is away
				seen.Heard = time.Time{}
			}
			n.receiver.Gone(c.Name, seen.Heard)
		}
	}
	return list
}

// remoteRequest has a request through the tree in the audit log.
func (n *Node) remoteRequest(e tree.Event) {
	if d, is := n.asked.Remote(e.Request.Method); is {
		n.report.RemoteRequest(&e, &d)
		return
	}
	n.report.RemoteRequest(&e, nil)
}

// answersTree reports whether a request of a neighbour is one about the tree.
func answersTree(r *dispatch.Request) bool {
	switch r.Method {
	case replica.ReportMethod, replica.AboveMethod, tree.RelayMethod, federation.Method, replica.FormerTreeMethod, replica.FormerFleetMethod, replica.FormerLedgerMethod:
		return true
	}
	return false
}

var errFromBelow = errors.New("is nothing that a node is asked from below")

// answerTree answers a child's request about the tree.
func (n *Node) answerTree(ctx context.Context, r *dispatch.Request) []byte {
	child := strings.TrimPrefix(r.From, identity.ChildPrefix)
	if r.Method == tree.RelayMethod {
		return n.tree.Relay(ctx, tree.Hop{Name: child}, r.Data)
	}
	switch r.Method {
	case replica.ReportMethod, replica.FormerTreeMethod, replica.FormerFleetMethod:
		return n.answerReport(ctx, r)
	}
	return uplink.Refusal(fault.E("node.answerTree", fault.Refused, r.Method, errFromBelow))
}

// answerParentTree answers the parent's request about the tree.
func (n *Node) answerParentTree(ctx context.Context, r *dispatch.Request) []byte {
	result, err := []byte("null"), error(nil)
	switch r.Method {
	case tree.RelayMethod:
		m, _ := n.parent.Current()
		return n.tree.Relay(ctx, tree.Hop{Name: m.Parent, Above: true}, r.Data)
	case federation.Method:
		return n.answerHistory(ctx, r)
	case replica.ReportMethod:
		n.reporter.Flush(ctx, r.Data)
	case replica.FormerLedgerMethod:
		result, err = n.reporter.FormerLedgers(ctx, r.Data)
	default:
		err = n.lineage.Above(r.Data)
	}
	if err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, result)
}
