package node

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink"
	"voltbus/uplink/federation"
	uplinkledger "voltbus/uplink/ledger"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// treeFile remembers who is below this node.
const treeFile = "tree.json"

// openTree lets this node and those around it ask each other.
func (n *Node) openTree(context.Context) error {
	if _, err := allowed(&n.opts.Config.Uplink); err != nil {
		return err
	}
	n.tree = tree.New(tree.Config{
		Name: n.opts.Config.Node.Name, Origins: n.ownOrigins, Children: n.watchChildren, Parent: n.neighbours.Parent, Place: n.sender.Above,
		Grants: n.neighbours.Grants, Up: n.neighbours.AskParent, Down: n.neighbours.AskChild, Here: func(ctx context.Context, v *tree.Visitor, r *tree.Request) (json.RawMessage, error) {
			return n.answerer.Answer(ctx, v, r)
		},
		Reads: func(method string) bool { return slices.Contains(readers(), method) },
		Tell:  n.remoteRequest, Refused: n.report.RefusedNode,
		File: filepath.Join(n.opts.Config.Node.Data, treeFile), Log: n.log, Now: now,
	})
	n.below = n.newFederation()
	if n.history.Store() != nil {
		n.wide = n.below
	}
	n.ledgers = uplinkledger.New(uplinkledger.Config{
		Name: n.opts.Config.Node.Name, Own: n.account.Own, Stores: n.history.Store() != nil, Above: n.heldAbove, Below: n.tree.Below,
		Ask:  n.askLedger,
		File: filepath.Join(n.opts.Config.Node.Data, ledgersFile), Log: n.log, Now: now,
	})
	return nil
}

// askLedger asks a child for the accounts of its subtree.
func (n *Node) askLedger(ctx context.Context, child string, body []byte) ([]byte, error) {
	return n.neighbours.AskNewer(ctx, child, uplinkledger.Method, body, "tell its ledger")
}

// Tree returns what is known of the nodes around this one.
func (n *Node) Tree() *tree.Tree { return n.tree }

// ownOrigins lists the names of this node's origins.
func (n *Node) ownOrigins() []string {
	var names []string
	for _, lane := range n.recorder.Lanes() {
		names = append(names, lane.Origin)
	}
	return names
}

// watchChildren lists the children as childrenNow does, and notes those that are away.
func (n *Node) watchChildren() []tree.Child {
	list := n.neighbours.Children()
	for _, c := range list {
		if !c.Online {
			seen, _ := n.book.Look(c.Name, c.Name)
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
	case tree.ReportMethod, tree.AboveMethod, tree.RelayMethod, uplinkledger.Method, federation.Method:
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
	if r.Method != tree.ReportMethod {
		return uplink.Refusal(fault.E("node.answerTree", fault.Refused, r.Method, errFromBelow))
	}
	answer, err := n.tree.Report(child, r.Data)
	if err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, answer)
}

// answerParentTree answers the parent's request about the tree.
func (n *Node) answerParentTree(ctx context.Context, r *dispatch.Request) []byte {
	if r.Method == tree.RelayMethod {
		m, _ := n.parent.Current()
		return n.tree.Relay(ctx, tree.Hop{Name: m.Parent, Above: true}, r.Data)
	}
	if r.Method == uplinkledger.Method {
		answer, err := n.ledgers.Answer(ctx, r.Data)
		if err != nil {
			return uplink.Refusal(err)
		}
		return wire.AppendResult(nil, answer)
	}
	if r.Method == federation.Method {
		return n.answerHistory(ctx, r)
	}
	if err := n.tree.Above(r.Data); err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, []byte("null"))
}
