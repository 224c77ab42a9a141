// Package ledger adds up the ledgers of a node and its descendants: per origin, at each node on the way, what was produced, stored, left
// out and lost.
package ledger

import (
	"context"
	"slices"
	"time"

	"voltbus/api/answer"
)

// maxGaps is the maximum number of gaps shown per node.
const maxGaps = 100

// Config is what a Ledger needs.
type Config struct {
	Name   string
	Own    func(ctx context.Context) (answer.Ledger, error) // the ledger of this node alone
	Stores bool                                             // this node has a store
	// Above returns how many samples of each origin the parent has; nil without a parent.
	Above func() map[string]uint64
	// Below lists the accounts of the descendants, as last reported.
	Below func() []answer.LedgerNode
	// Refresh makes the descendants report, as far as they do so in time.
	Refresh func(context.Context)
	Now     func() time.Time
}

// Ledger is the ledger of a node. It is safe for concurrent use.
type Ledger struct{ cfg Config }

// New returns the ledger of a node.
func New(cfg Config) *Ledger { return &Ledger{cfg} }

// Here returns the account of this node.
func (l *Ledger) Here(ctx context.Context) (answer.LedgerNode, error) {
	own, err := l.cfg.Own(ctx)
	if err != nil {
		return answer.LedgerNode{}, err
	}
	return l.account(&own), nil
}

// Complete adds the accounts of the subtree to a ledger of this node: Nodes, Sum and Sentence. Without all
// they cover this node alone.
func (l *Ledger) Complete(ctx context.Context, own *answer.Ledger, all bool) {
	own.Nodes = []answer.LedgerNode{l.account(own)}
	if all {
		l.cfg.Refresh(ctx)
		own.Nodes = append(own.Nodes, l.cfg.Below()...)
	}
	own.Sum = sum(own.Nodes)
	own.Sentence = sentence(own.Nodes, &own.Sum)
}

func (l *Ledger) account(own *answer.Ledger) answer.LedgerNode {
	n := answer.LedgerNode{
		Node: l.cfg.Name, Path: []string{}, State: "here", AsOf: l.cfg.Now().UTC(), Ledger: own.State, Reason: own.Reason, Stores: l.cfg.Stores,
		Origins: make([]answer.Hop, len(own.Origins)), Gaps: slices.Clone(own.Gaps[:min(len(own.Gaps), maxGaps)]),
		Overwritten: own.Overwritten,
	}
	above := l.cfg.Above()
	for i := range own.Origins {
		n.Origins[i].Origin = own.Origins[i]
		if has, known := above[own.Origins[i].Origin]; known {
			n.Origins[i].Above = &has
		}
	}
	return n
}
