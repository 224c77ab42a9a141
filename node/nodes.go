package node

import (
	"context"
	"errors"

	"voltbus/api/answer"
	"voltbus/fault"
	"voltbus/health/ownstatus"
	"voltbus/uplink/descendants"
	"voltbus/uplink/shape"
)

// nodes implements stream.Nodes.
type nodes struct{ node *Node }

// Nodes implements stream.Nodes.
func (a nodes) Nodes(ctx context.Context) (answer.Nodes, error) {
	above, refused := a.node.lineage.Ancestors()
	out := answer.Nodes{Nodes: []answer.Node{a.self(ctx)}, Above: append([]string{}, above...), Refused: []answer.RefusedNode{}}
	for _, r := range refused {
		out.Refused = append(out.Refused, answer.RefusedNode{Name: r.Name, Why: r.Why})
	}
	out.Nodes = append(out.Nodes, a.node.descendants.All()...)
	return out, nil
}

var errNoNode = errors.New("no node of this name is known here; voltbus nodes lists those that are")

// Node implements stream.Nodes.
func (a nodes) Node(ctx context.Context, name string) (answer.Node, error) {
	if a.node.tree.Self(name) {
		return a.self(ctx), nil
	}
	if out, known := a.node.descendants.Named(name); known {
		return out, nil
	}
	return answer.Node{}, fault.E("node.Node", fault.NotFound, name, errNoNode)
}

// self describes this node. The link to its parent has its current state.
func (a nodes) self(ctx context.Context) answer.Node {
	seen := a.node.nodes.Self()
	seen.Link, seen.LinkNote, seen.Waiting, seen.WaitingBytes, seen.WaitingSince = "", "", 0, 0, 0
	a.node.link.Add(ctx, &seen.Status)
	out := descendants.Shape(&seen)
	out.Name, out.State, out.Path, out.Origins = a.node.opts.Config.Node.Name, answer.NodeHere, []string{}, ownstatus.Origins(a.node.recorder)
	if m, member := a.node.parent.Current(); member {
		out.Parent = m.Parent
		above := shape.Live(a.node.liveUp.Status(), true)
		out.Live = &above
	}
	return out
}
