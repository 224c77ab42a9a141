// Package ledger declares and carries out the operations on the loss ledger.
package ledger

import (
	"context"

	"voltbus/api/answer"
	"voltbus/identity"
	"voltbus/operation"
)

// Ledger gives the account of all samples.
type Ledger interface {
	// Ledger covers this node.
	Ledger(ctx context.Context) (answer.Ledger, error)
	// LedgerBelow covers the descendants, too.
	LedgerBelow(ctx context.Context) (answer.Ledger, error)
}

// Reach tells which nodes are meant.
type Reach struct {
	Local bool `json:"local" doc:"Only this node"`
}

// Get returns the account.
var Get = operation.Declare[Reach, answer.Ledger](operation.Spec{
	Name: "ledger.get", HTTP: "GET /ledger", Role: identity.Viewer,
	Summary: "Read the account of all samples", Result: "What was produced, acknowledged, stored and lost",
	Doc: `The account of this node, and in "nodes" that of each descendant, as reported by it; "sum" and "sentence" are about all of them. ` +
		"Children are asked when somebody looks, for a few seconds at most; of one that does not answer it is what it said last, marked as old.",
})

// Part carries out the operations on the ledger.
type Part struct {
	Ledger Ledger // nil if there is none
}

// Operations lists the operations of the part.
func (p *Part) Operations() []operation.Bound {
	return []operation.Bound{operation.Bind(Get, nil, p.get)}
}

func (p *Part) get(ctx context.Context, _ *operation.Call, in *Reach) (answer.Ledger, error) {
	if p.Ledger == nil {
		return answer.Ledger{}, operation.NotHere("ledger")
	}
	look := p.Ledger.LedgerBelow
	if in.Local {
		look = p.Ledger.Ledger
	}
	l, err := look(ctx)
	l.Origins, l.Gaps, l.Damaged, l.Nodes = some(l.Origins), some(l.Gaps), some(l.Damaged), some(l.Nodes)
	return l, err
}

// some turns a nil list into an empty one, so that JSON has [] and not null.
func some[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
