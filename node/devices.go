package node

import (
	"context"

	"voltbus/config"
	"voltbus/device"
	"voltbus/operation/configuration"
)

// Reload applies a changed configuration: devices are added, removed and restarted without a missed
// scan of the others. Sections that take effect only after a restart are named in the answer and
// keep their old values.
func (n *Node) Reload(ctx context.Context, cfg *config.Config) (config.Changes, error) {
	n.reportStart(ctx) // a caller may be faster than Run
	done, err := n.plant.apply(ctx, cfg)
	n.report.Node(ctx, "config.reload", err, map[string]any{"changes": configuration.Changes(done).Words})
	return done, err
}

// forms returns the forms of live messages by their names in the configuration.
func forms(names []string) (f device.Forms) {
	for _, name := range names {
		switch name {
		case config.PublishScan:
			f |= device.FormScan
		case config.PublishPoint:
			f |= device.FormPoint
		case config.PublishBreadthScan:
			f |= device.FormBreadthScan
		case config.PublishBreadthPoint:
			f |= device.FormBreadthPoint
		}
	}
	return f
}
