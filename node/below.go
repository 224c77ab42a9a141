package node

import (
	"context"
	"path/filepath"
	"time"

	"voltbus/bus"
	"voltbus/identity"
	"voltbus/point"
	"voltbus/recorder"
	"voltbus/statefile"
	"voltbus/uplink"
	"voltbus/uplink/children"
	"voltbus/uplink/neighbour"
	"voltbus/uplink/receiver"
	"voltbus/uplink/replica"
	"voltbus/uplink/sender"
)

// openReceiver accepts blocks from children.
func openReceiver(_ context.Context, n *Node) error {
	n.neighbours = neighbour.New(neighbour.Options{
		Children: n.children, Parent: n.parent, Bus: n.bus,
		Link:    func() (sender.State, time.Time) { return n.sender.State() },
		Allowed: func() (identity.Grants, error) { return allowed(&n.Config().Uplink) },
		Version: func(child string) string {
			seen, _ := n.nodes.Look(child, child)
			return seen.Version
		},
	})
	n.kept = replica.OpenFile(n.opts.Config.Node.Data, n.log)
	n.receiver = receiver.New(receiver.Config{
		Name: n.opts.Config.Node.Name, Child: n.neighbours.Child, Own: func(origin string) bool { return isOwn(n.recorder.Lanes(), origin) }, Know: func(ctx context.Context, child string, paths []point.Path) error {
			return n.served.Know(ctx, child, paths)
		}, Meter: n.meters.Fits, Refused: n.report.Blocks,
		File: filepath.Join(n.opts.Config.Node.Data, statefile.Origins), Store: n.history.Name, Log: n.log,
		Outages: n.kept,
	}, n.recorder, uplinkPositions(n.recorder.Others()))
	n.served = children.New(children.Options{
		Child: n.neighbours.Child, Met: n.children.Met, Works: n.bus.Works, Receiver: n.receiver, Catalog: n.catalog,
		Most: n.opts.Config.Ingest.ChildPoints, Refused: n.report.Descriptions,
	})
	return n.bus.ReceiveBlocks(func(a bus.Arrival) { //nolint:contextcheck // the receiver has that of its Run
		n.receiver.Receive(a.Child, uplink.Lane(a.Lane), a.Data, func(answer uplink.Answer) { a.Answer(answer.Encode()) })
	})
}

// isOwn reports whether an origin is this node's own.
func isOwn(lanes []recorder.Stats, origin string) bool {
	for _, s := range lanes {
		if s.Origin == origin || point.UrgentOrigin(s.Origin) == origin || point.MeterOrigin(s.Origin) == origin || point.MeterEventOrigin(s.Origin) == origin {
			return true
		}
	}
	return false
}

// Below returns what each child has sent since the start.
func (n *Node) Below() map[string]receiver.Counts { return n.receiver.Status() }
