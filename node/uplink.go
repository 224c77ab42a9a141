package node

import (
	"context"
	"path/filepath"

	"voltbus/bus/dispatch"
	"voltbus/health/ownstatus"
	"voltbus/outside"
	"voltbus/recorder"
	"voltbus/statefile"
	"voltbus/uplink"
	"voltbus/uplink/live"
	"voltbus/uplink/parent"
	"voltbus/uplink/sender"
)

// openUplink creates the part that sends the log to the parent. It does not dial.
func openUplink(ctx context.Context, n *Node) (err error) {
	cfg := n.opts.Config.Uplink
	renames := make([]uplink.Rename, len(cfg.Rename))
	for i, r := range cfg.Rename {
		renames[i] = uplink.Rename(r)
	}
	dialer := &parent.Dialer{
		Parent: n.parent, Silence: cfg.Silence, Positions: n.receiver.Positions, Answer: func(ctx context.Context, r dispatch.Request) { n.router.Parent(ctx, r) },
		Live: func(ctx context.Context, dial func(context.Context, func([]byte)) (live.Conn, error)) {
			n.liveUp.Run(ctx, dial)
		},
	}
	c := sender.Config{
		Dial: dialer.Dial, Own: func() map[string]uplink.Position { return ownstatus.Positions(n.recorder) }, Store: n.history.Name, Describe: func(ctx context.Context) ([]uplink.Description, error) { return parent.Descriptions(ctx, n.catalog) },
		File: filepath.Join(n.opts.Config.Node.Data, statefile.Uplink), Version: n.opts.Version.Version,
		Gathers: gathers(n), Select: cfg.Select, Rename: renames, Rate: int64(cfg.Rate), Age: cfg.Age, Patience: cfg.Silence, Turned: func(parent string, lost error) { parentLink(n.links, parent, lost) }, Log: n.log,
	}
	outer := outward(n) //nolint:contextcheck // a unit is asked for later
	if n.judged, err = outside.OpenParent(ctx, &outer, n.origin, cfg.Select, func() bool { return n.sender.Shared() }); err != nil {
		return err
	}
	n.judged.Join(&c)
	n.sender = sender.New(c, n.blocks)
	return nil
}

// gathers configures how meter readings are collected for the parent.
func gathers(n *Node) func(origin string) (sender.Pace, bool) {
	return func(origin string) (sender.Pace, bool) {
		bulk, age, is := n.meters.Gathers(origin)
		return sender.Pace{Samples: bulk, Age: age}, is
	}
}

// uplinkPositions returns the recorder's positions in the form that the uplink uses.
func uplinkPositions(all map[string]recorder.Position) map[string]uplink.Position {
	out := make(map[string]uplink.Position, len(all))
	for origin, p := range all {
		out[origin] = uplink.Position{Sequence: p.Sequence, Samples: p.Samples}
	}
	return out
}
