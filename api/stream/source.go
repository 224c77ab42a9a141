package stream

import (
	"context"
	"encoding/json"

	"voltbus/api/answer"
	"voltbus/api/exchange"
	"voltbus/catalog"
	"voltbus/wire"
)

// Points lists points.
type Points interface {
	Search(ctx context.Context, f catalog.Filter) (catalog.Page, error)
}

// Live delivers what devices report as it happens.
type Live interface {
	// Subscribe calls deliver with each live message that contains selected points, until stop is
	// called; after stop has returned, deliver is not called again. deliver returns at once, and
	// does not retain the message.
	Subscribe(sel wire.Selection, deliver func(message json.RawMessage)) (stop func(), err error)
}

// Ledger gives the account of all samples.
type Ledger interface {
	// Ledger covers this node.
	Ledger(ctx context.Context) (answer.Ledger, error)
	// LedgerBelow covers the descendants, too.
	LedgerBelow(ctx context.Context) (answer.Ledger, error)
}

// Nodes are this node and its descendants.
type Nodes interface {
	Nodes(ctx context.Context) (answer.Nodes, error)
}

const noNodes = "other nodes"

// other returns the node named by node=; "" for this one.
func (s *Streams) other(r *exchange.Request) (string, error) {
	in := exchange.Read(r)
	node, _ := in.Text("node")
	switch {
	case in.Err != nil || node == "":
		return "", in.Err
	case s.Remote == nil:
		return "", exchange.Absent("other nodes")
	case s.Remote.Self(node):
		return "", nil
	}
	return node, nil
}
