// Package router routes requests of neighbours and agents to the parts that answer them.
package router

import (
	"context"
	"errors"
	"strings"

	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/identity"
	"voltbus/uplink"
	"voltbus/uplink/children"
	"voltbus/uplink/enrol"
	"voltbus/uplink/federation"
	"voltbus/uplink/lineage"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/replica"
	"voltbus/uplink/tree"
	"voltbus/wire"
)

// Heads records the ends of children's audit logs.
type Heads interface {
	OfChild(child string) string
	Receive(ctx context.Context, child, before, now string)
}

// Router knows which part answers which request. It is safe for concurrent use.
type Router struct {
	Host       *enrol.Host        // handles enrolment
	Served     *children.Children // handles the children's uplink requests
	Enrolment  *enrol.Parent
	Tree       *tree.Tree
	Lineage    *lineage.Lineage
	Table      *replica.Table
	Reporter   *replica.Reporter
	Heads      Heads
	Neighbours *neighbour.Neighbours
	Federation *federation.Federation

	// Allowed is what ancestors may do here.
	Allowed func() (identity.Grants, error)
	// Agents answers everything else, as for agents.
	Agents func(ctx context.Context, r *dispatch.Request, later func(work func())) []byte
}

// Answer answers a request: enrolment of a child or the holder of an invitation, and everything else as for
// agents. later receives work to do after the answer is sent.
func (t *Router) Answer(ctx context.Context, r *dispatch.Request, later func(work func())) []byte {
	if strings.HasPrefix(r.From, identity.InvitePrefix) || (strings.HasPrefix(r.From, identity.ChildPrefix) && t.Host.Answers(r.Method)) {
		return t.Host.Answer(ctx, r.From, r.Method, r.Data)
	}
	if children.Answers(r) {
		return t.Served.Answer(ctx, r)
	}
	if strings.HasPrefix(r.From, identity.ChildPrefix) && aboutTree(r.Method) {
		return t.childTree(ctx, r)
	}
	return t.Agents(ctx, r, later)
}

var (
	errAbove     = errors.New("is nothing that a node is asked from above")
	errFromBelow = errors.New("is nothing that a node is asked from below")
)

// Parent answers the parent's requests about the tree.
func (t *Router) Parent(ctx context.Context, r dispatch.Request) {
	if r.From == wire.NodeName && aboutTree(r.Method) {
		_ = r.Respond(t.parentTree(ctx, &r)) // the caller may have disconnected
		return
	}
	_ = r.Respond(uplink.Refusal(fault.E("router.Parent", fault.Refused, r.Method, errAbove)))
}

// aboutTree reports whether a neighbour's request is about the tree.
func aboutTree(method string) bool {
	switch method {
	case replica.ReportMethod, replica.AboveMethod, tree.RelayMethod, federation.Method, replica.FormerTreeMethod, replica.FormerFleetMethod, replica.FormerLedgerMethod:
		return true
	}
	return false
}

// childTree answers a child's request about the tree.
func (t *Router) childTree(ctx context.Context, r *dispatch.Request) []byte {
	child := strings.TrimPrefix(r.From, identity.ChildPrefix)
	if r.Method == tree.RelayMethod {
		return t.Tree.Relay(ctx, tree.Hop{Name: child}, r.Data)
	}
	switch r.Method {
	case replica.ReportMethod, replica.FormerTreeMethod, replica.FormerFleetMethod:
		return t.report(ctx, r)
	}
	return uplink.Refusal(fault.E("router.childTree", fault.Refused, r.Method, errFromBelow))
}

// parentTree answers the parent's request about the tree.
func (t *Router) parentTree(ctx context.Context, r *dispatch.Request) []byte {
	result, err := []byte("null"), error(nil)
	switch r.Method {
	case tree.RelayMethod:
		m, _ := t.Enrolment.Current()
		return t.Tree.Relay(ctx, tree.Hop{Name: m.Parent, Above: true}, r.Data)
	case federation.Method:
		return t.history(ctx, r)
	case replica.ReportMethod:
		t.Reporter.Flush(ctx, r.Data)
	case replica.FormerLedgerMethod:
		result, err = t.Reporter.FormerLedgers(ctx, r.Data)
	default:
		err = t.Lineage.Above(r.Data)
	}
	if err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, result)
}

// history answers the parent's query for samples that it does not have.
func (t *Router) history(ctx context.Context, r *dispatch.Request) []byte {
	grants, err := t.Allowed()
	if err != nil {
		return uplink.Refusal(err)
	}
	answer, err := t.Federation.Answer(ctx, &grants, r.Data)
	if err != nil {
		return uplink.Refusal(err)
	}
	return wire.AppendResult(nil, answer)
}

// report processes a child's report about itself and its descendants.
func (t *Router) report(ctx context.Context, r *dispatch.Request) []byte {
	const op = "router.report"
	child := strings.TrimPrefix(r.From, identity.ChildPrefix)
	if _, known := t.Neighbours.Child(child); !known {
		return uplink.Refusal(fault.E(op, fault.Refused, child, neighbour.ErrNoChild))
	}
	before := t.Heads.OfChild(child)
	take := t.Table.Take
	if r.Method != replica.ReportMethod {
		take = func(child string, body []byte, audit string) ([]byte, error) {
			return t.Table.TakeFormer(child, r.Method, body, audit)
		}
	}
	answer, err := take(child, r.Data, before)
	if err != nil {
		return uplink.Refusal(err)
	}
	if seen, reported := t.Table.Look(child, child); reported && seen.Audit != "" && !seen.Kept {
		t.Heads.Receive(ctx, child, before, seen.Audit)
	}
	return wire.AppendResult(nil, answer)
}
