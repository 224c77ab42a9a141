package node

import (
	"context"
	"errors"
	"path/filepath"

	"voltbus/bus/dispatch"
	"voltbus/fault"
	"voltbus/recorder"
	"voltbus/uplink"
	"voltbus/uplink/live"
	"voltbus/uplink/sender"
	"voltbus/uplink/session"
	"voltbus/wire"
)

// uplinkFile remembers how far the parent has the log.
const uplinkFile = "uplink.json"

// openUplink makes what sends the log to the parent. It dials nobody.
func openUplink(_ context.Context, n *Node) error {
	cfg := n.opts.Config.Uplink
	renames := make([]uplink.Rename, len(cfg.Rename))
	for i, r := range cfg.Rename {
		renames[i] = uplink.Rename(r)
	}
	dialer := &session.Dialer{
		Parent: n.parent, Silence: cfg.Silence, Positions: n.receiver.Positions, Answer: n.answerAbove,
		Live: func(ctx context.Context, dial func(context.Context, func([]byte)) (live.Conn, error)) {
			n.liveUp.Run(ctx, dial)
		},
	}
	n.sender = sender.New(sender.Config{
		Dial: dialer.Dial, Own: n.ownPositions, Store: n.history.Name, Describe: func(ctx context.Context) ([]uplink.Description, error) { return session.Descriptions(ctx, n.catalog) },
		File: filepath.Join(n.opts.Config.Node.Data, uplinkFile), Version: n.opts.Version.Version,
		Select: cfg.Select, Rename: renames, Rate: int64(cfg.Rate), Age: cfg.Age, Patience: cfg.Silence, Turned: func(parent string, lost error) { parentLink(n.links, parent, lost) }, Log: n.log,
	}, n.blocks)
	return nil
}

// ownPositions returns how far this node's origins are on disk.
func (n *Node) ownPositions() map[string]uplink.Position {
	out := map[string]uplink.Position{}
	for _, s := range n.recorder.Lanes() {
		out[s.Origin] = uplink.Position{Sequence: s.Sequence, Samples: s.Acknowledged}
	}
	return out
}

var errAbove = errors.New("is nothing that a node is asked from above")

// answerAbove answers what the parent asks that concerns the tree.
func (n *Node) answerAbove(ctx context.Context, r dispatch.Request) {
	if r.From == wire.NodeName && answersTree(&r) {
		_ = r.Respond(n.answerParentTree(ctx, &r)) // who asked may be gone
		return
	}
	_ = r.Respond(uplink.Refusal(fault.E("node.answerAbove", fault.Refused, r.Method, errAbove)))
}

// uplinkPositions returns the recorder's positions as the uplink has them.
func uplinkPositions(all map[string]recorder.Position) map[string]uplink.Position {
	out := make(map[string]uplink.Position, len(all))
	for origin, p := range all {
		out[origin] = uplink.Position{Sequence: p.Sequence, Samples: p.Samples}
	}
	return out
}
