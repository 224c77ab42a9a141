package node

import (
	"context"

	"voltbus/point"
	"voltbus/query"
	"voltbus/uplink/federation"
)

// newFederation completes answers about the history with data that descendants have not sent yet.
func newFederation(n *Node) *federation.Federation {
	return federation.New(federation.Config{
		Name: n.opts.Config.Node.Name, Store: n.history.Kept(), LogOnly: n.history.Store() == nil, Catalog: n.catalog, Limits: query.DefaultLimits(), Now: now, Log: n.blocks,
		Children: n.descendants.Historians,
		Ask: func(ctx context.Context, child string, body []byte) ([]byte, error) {
			return n.neighbours.AskNewer(ctx, child, federation.Method, body, "answer questions about what it did not send")
		},
		Below: n.sender.Below, Place: n.sender.Place,
		Sent: func(p point.Path) bool { _, sent := n.sender.Sent(p); return sent },
	})
}
