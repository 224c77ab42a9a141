package node

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"voltbus/bus/dispatch"

	"voltbus/api"
	"voltbus/api/answer"
	"voltbus/audit"
	"voltbus/bus"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/service"
	"voltbus/uplink/enrol"
	"voltbus/uplink/federation"
	"voltbus/uplink/ledger"
	"voltbus/uplink/sender"
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
		Name: n.opts.Config.Node.Name, Origins: n.ownOrigins, Children: n.watchChildren, Parent: n.parentNow, Place: n.sender.Above,
		Grants: n.grantsOf, Up: n.askAbove, Down: n.askBelow, Here: n.answerVisitor,
		Reads: func(method string) bool { return slices.Contains(readers(), method) },
		Tell:  n.tellOfRequest, Refused: n.tellOfNode,
		File: filepath.Join(n.opts.Config.Node.Data, treeFile), Log: n.log, Now: now,
	})
	n.below = n.newFederation()
	if n.store != nil {
		n.wide = n.below
	}
	n.ledgers = ledger.New(ledger.Config{
		Name: n.opts.Config.Node.Name, Own: n.ownLedger, Stores: n.store != nil, Above: n.heldAbove, Below: n.tree.Below,
		Ask:  n.askLedger,
		File: filepath.Join(n.opts.Config.Node.Data, ledgersFile), Log: n.log, Now: now,
	})
	return nil
}

// askLedger asks a child for the accounts of its subtree.
func (n *Node) askLedger(ctx context.Context, child string, body []byte) ([]byte, error) {
	return n.askChild(ctx, child, ledger.Method, body, "tell its ledger")
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

// childrenNow lists the children that may connect, and which of them are.
func (n *Node) childrenNow() []tree.Child {
	present := n.bus.Present()
	var list []tree.Child
	for _, c := range n.children.List() {
		if c.State == identity.ChildApproved {
			_, online := present[c.Caller()]
			list = append(list, tree.Child{Name: c.Name, Prefix: c.Prefix, Online: online})
		}
	}
	return list
}

// watchChildren lists the children as childrenNow does, and notes those that are away.
func (n *Node) watchChildren() []tree.Child {
	list := n.childrenNow()
	for _, c := range list {
		if !c.Online {
			seen, _ := n.book.Look(c.Name, c.Name)
			n.receiver.Gone(c.Name, seen.Heard)
		}
	}
	return list
}

// parentNow says how this node stands with its parent.
func (n *Node) parentNow() (tree.Above, bool) {
	m, member := n.parent.Current()
	if !member {
		return tree.Above{}, false
	}
	state, since := n.sender.State()
	return tree.Above{Name: m.Parent, As: m.Name, Online: state == sender.Connected, Since: since}, true
}

var errNotAbove = errors.New("asks from above, and is not the parent of this node")

// grantsOf returns what a neighbour may do here.
func (n *Node) grantsOf(from tree.Hop) (identity.Grants, error) {
	const op = "node.grantsOf"
	if !from.Above {
		c, err := n.children.Child(from.Name)
		if err != nil || c.State != identity.ChildApproved {
			return identity.Grants{}, fault.E(op, fault.Refused, from.Name, errNoChild)
		}
		return c.All(), nil
	}
	if _, member := n.parent.Current(); !member {
		return identity.Grants{}, fault.E(op, fault.Refused, from.Name, errNotAbove)
	}
	return allowed(&n.Config().Uplink)
}

// askAbove asks the parent.
func (n *Node) askAbove(ctx context.Context, method string, body []byte) ([]byte, error) {
	data, err := n.parent.Ask(ctx, method, body)
	if err == nil || !fault.Is(err, fault.Unreachable) {
		return data, err
	}
	if _, answered := errors.AsType[*wire.Failure](err); answered || errors.Is(err, enrol.ErrDetached) {
		return nil, err
	}
	return nil, fault.E("node.askAbove", fault.Unreachable, method, &tree.LostError{})
}

// askBelow asks a child.
func (n *Node) askBelow(ctx context.Context, child, method string, body []byte) ([]byte, error) {
	data, err := n.bus.CallHeld(ctx, identity.ChildPrefix+child, method, body)
	if errors.Is(err, bus.ErrLost) {
		err = fault.E("node.askBelow", fault.Unreachable, child, &tree.LostError{})
	}
	return data, err
}

// askChild asks a child for what it may be too old to know: what is what it does not do then.
func (n *Node) askChild(ctx context.Context, child, method string, body []byte, what string) ([]byte, error) {
	data, err := n.askBelow(ctx, child, method, body)
	if err != nil {
		return nil, err
	}
	result, err := tree.Parse(child, data)
	if e, is := errors.AsType[*fault.Error](err); is && e.Kind == fault.Refused && e.Subject == method { // so a node of any version answers what it does not know
		seen, _ := n.book.Look(child, child)
		return nil, fault.E("node.askChild", fault.NotFound, child, &tooOldError{version: seen.Version, what: what})
	}
	return result, err
}

// tooOldError says that a child's program does not know what it was asked.
type tooOldError struct{ version, what string }

func (e *tooOldError) Error() string {
	program := "its program"
	if e.version != "" {
		program = "version " + e.version + " of its program"
	}
	return program + " does not " + e.what + " yet; update it"
}

// answerVisitor answers what is asked of this node, or of one of its agents, from another one.
func (n *Node) answerVisitor(ctx context.Context, v *tree.Visitor, r *tree.Request) (json.RawMessage, error) {
	if _, is := n.asked.Remote(r.Method); is && r.Agent == wire.NodeName {
		return n.runErrand(ctx, v, r)
	}
	if r.Agent == wire.NodeName {
		return n.service.Visit(ctx, visitorOf(v, n.service.Role(r.Method)), r.Method, r.Body)
	}
	if _, err := n.agents.Agent(r.Agent); err != nil {
		return nil, err
	}
	if err := n.demanded(ctx, v, r); err != nil {
		return nil, err
	}
	data, err := n.bus.CallFor(ctx, v.For.String(), r.Agent, r.Method, r.Body)
	if err != nil {
		return nil, err
	}
	return tree.Parse(r.Agent+":"+r.Method, data)
}

// visitorOf returns who asks from another node for what needs a role of people.
func visitorOf(v *tree.Visitor, needed identity.Role) *service.Visitor {
	out := &service.Visitor{Neighbour: v.Neighbour(), Requester: v.Requester(), Grants: v.Grants}
	if v.IsAgent() {
		out.Agent, out.Administers = true, v.Own != nil && v.Own.Administer
		return out
	}
	out.Role = v.As(needed)
	return out
}

var errCaller = errors.New("needs the role operator, as calling an agent does at its own node")

// demanded judges whether who asks may call the method of an agent: people need the role that they need at
// home. Agents answer the node whatever they demand of callers, so it judges that for whom it asks.
func (n *Node) demanded(ctx context.Context, v *tree.Visitor, r *tree.Request) error {
	if r.Method == "inspect" || r.Method == "ping" {
		return nil
	}
	if !v.IsAgent() && !v.As(identity.Operator).Includes(identity.Operator) {
		return fault.E("node.demanded", fault.Refused, r.Agent+":"+r.Method, errCaller)
	}
	list, err := calls{n}.Methods(ctx, r.Agent)
	if err != nil {
		return err
	}
	for i := range list {
		if list[i].Name != r.Method {
			continue
		}
		for _, need := range list[i].Needs {
			if err := v.Holds(r, need); err != nil {
				return err
			}
		}
	}
	return nil
}

// tellOfRequest writes a request through the tree into the audit log. What people ask here the API
// tells of.
func (n *Node) tellOfRequest(e tree.Event) {
	r := e.Request
	if e.From == "" && !strings.HasPrefix(r.Caller, "agent:") {
		return
	}
	offer := n.audit.Offer
	if d, is := n.asked.Remote(r.Method); is && !d.Changes() && r.Agent == wire.NodeName && e.Claimed == "" && !fault.Is(e.Err, fault.Refused) {
		if d.Watched == "" || !e.Passed {
			return
		}
		offer = n.audit.Gather // who follows a log asks each second
	}
	entry := audit.Entry{Actor: r.Caller, Action: "node.call", Subject: r.Call(), Outcome: "ok"}
	if e.From != "" {
		entry.Actor, entry.Action = cmp.Or(r.For, "node:"+e.From), "node.answer"
		if e.Passed {
			entry.Action = "node.pass"
		}
	}
	if e.Claimed != "" {
		if entry.Actor = "node:" + e.From; fault.Is(e.Err, fault.Refused) {
			entry.Action = "node.forged"
		}
	}
	if e.Err != nil {
		entry.Outcome = e.Err.Error()
	}
	entry.Detail, _ = json.Marshal(struct { // texts
		Caller  string   `json:"caller"`
		Path    []string `json:"path,omitempty"`
		By      string   `json:"by,omitempty"` // the neighbour
		Claimed string   `json:"claimed,omitempty"`
	}{r.Caller, r.Path, e.From, e.Claimed})
	offer(entry)
}

// tellOfNode writes into the audit log that a node is not let into the tree.
func (n *Node) tellOfNode(child string, r tree.Refused) {
	n.audit.Gather(audit.Entry{Actor: "child:" + child, Action: "node.refused", Subject: r.Name, Outcome: r.Why})
}

// answersTree reports whether a request of a neighbour is one about the tree.
func answersTree(r *dispatch.Request) bool {
	switch r.Method {
	case tree.ReportMethod, tree.AboveMethod, tree.RelayMethod, ledger.Method, federation.Method:
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
		return refusal(fault.E("node.answerTree", fault.Refused, r.Method, errFromBelow))
	}
	answer, err := n.tree.Report(child, r.Data)
	if err != nil {
		return refusal(err)
	}
	return wire.AppendResult(nil, answer)
}

// answerParentTree answers the parent's request about the tree.
func (n *Node) answerParentTree(ctx context.Context, r *dispatch.Request) []byte {
	if r.Method == tree.RelayMethod {
		m, _ := n.parent.Current()
		return n.tree.Relay(ctx, tree.Hop{Name: m.Parent, Above: true}, r.Data)
	}
	if r.Method == ledger.Method {
		answer, err := n.ledgers.Answer(ctx, r.Data)
		if err != nil {
			return refusal(err)
		}
		return wire.AppendResult(nil, answer)
	}
	if r.Method == federation.Method {
		return n.answerHistory(ctx, r)
	}
	if err := n.tree.Above(r.Data); err != nil {
		return refusal(err)
	}
	return wire.AppendResult(nil, []byte("null"))
}

// far implements api.Far.
type far struct{ node *Node }

// Self implements api.Far.
func (f far) Self(name string) bool { return f.node.tree.Self(name) }

// Role implements api.Far.
func (f far) Role(method string) identity.Role { return f.node.service.Role(method) }

// Ask implements api.Far.
func (f far) Ask(ctx context.Context, who api.Caller, c api.FarCall) (json.RawMessage, error) {
	body, err := json.Marshal(c.Args)
	if err != nil {
		return nil, fault.E("node.Ask", fault.Invalid, c.Node, err)
	}
	result, err := f.node.tree.Ask(ctx, tree.Caller{Name: who.Name, Role: who.Role}, tree.Request{Node: c.Node, Agent: c.Agent, Method: c.Method, Body: body})
	if there, ok := errors.AsType[*wire.Failure](err); ok && there.Kind == wire.RemoteKind {
		return nil, &api.RaisedError{Raised: answer.Raised{Type: there.Type, Message: there.Message, Args: there.Args}}
	}
	if err == nil && len(result) == 0 {
		result = json.RawMessage("null")
	}
	return result, err
}
