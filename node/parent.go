package node

import (
	"context"
	"log/slog"

	"voltbus/uplink/session"
)

// awaitApproval asks the parent, as long as this node waits for it, whether somebody approved it.
func (n *Node) awaitApproval(ctx context.Context) error {
	return n.parent.Run(ctx, session.Knock, func(err error) {
		n.log.InfoContext(ctx, "the node above was asked", slog.Any("err", err))
	})
}
