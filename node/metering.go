package node

import (
	"context"
	"path/filepath"

	"voltbus/api/intake"
	"voltbus/meter/system"
	"voltbus/point"
)

// openMetering opens the metering data system, if that is the node's role.
func openMetering(ctx context.Context, n *Node) (err error) {
	last := n.recorder.Others()[point.MeterOrigin(n.origin)]
	n.meters, err = system.Open(ctx, system.Config{
		Dir: filepath.Join(n.opts.Config.Node.Data, "metering"), Section: n.opts.Config.Metering, Origin: n.origin,
		Sequence: last.Sequence, Samples: last.Samples, Blocks: n.blocks, Forward: n.recorder.Forward,
		Bounds: n.opts.Config.Ingest.Bounds(), Now: now, Log: n.log, Valves: n.opts.Valves != nil,
	})
	return err
}

// messagesTo is the web service of a metering system; nil of none.
func messagesTo(s *system.System) intake.Meters {
	if s == nil {
		return nil
	}
	return s.WebService()
}
