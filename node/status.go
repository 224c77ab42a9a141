package node

import (
	"context"

	"voltbus/health/ownstatus"
	"voltbus/uplink/replica"
)

// openReports connects the reports of this node to its parent, and those of its children.
func openReports(_ context.Context, n *Node) error {
	n.link = &ownstatus.Link{Parent: n.parent, Sender: n.sender, Recorder: n.recorder, Blocks: n.blocks}
	n.reporter = replica.NewReporter(replica.Config{
		Own:     func(ctx context.Context) replica.Status { return n.own.Status(ctx) },
		Origins: func() []string { return ownstatus.Origins(n.recorder) }, Ledger: n.ledgers.Here, Parent: n.neighbours.Parent, Up: n.neighbours.AskParent,
		Down: func(ctx context.Context, child, method string, body []byte) ([]byte, error) {
			return n.neighbours.AskNewer(ctx, child, method, body, "tell its ledger")
		},
		Kept: n.heads.FromParent, File: n.kept, Log: n.log, Now: now,
	}, n.nodes)
	return nil
}
