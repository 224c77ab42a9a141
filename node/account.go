package node

import (
	"cmp"
	"context"
	"slices"
	"time"

	"voltbus/api/answer"
	"voltbus/device"
	"voltbus/uplink/sender"
	"voltbus/uplink/shape"
)

// Ledger implements stream.Ledger: for each origin what was produced, acknowledged and stored here.
func (n *Node) Ledger(ctx context.Context) (answer.Ledger, error) {
	out, err := n.account.Own(ctx)
	if err == nil {
		n.ledgers.Complete(ctx, &out, false)
	}
	return out, err
}

// LedgerBelow implements stream.Ledger: the ledger of this node and of each descendant.
func (n *Node) LedgerBelow(ctx context.Context) (answer.Ledger, error) {
	out, err := n.account.Own(ctx)
	if err == nil {
		n.ledgers.Complete(ctx, &out, true)
	}
	return out, err
}

// heldAbove returns how many samples of each origin the parent holds.
func heldAbove(up *sender.Sender) map[string]uint64 {
	out := map[string]uint64{}
	for _, o := range up.Status().Origins {
		out[o.Name] = o.Position.Samples
	}
	return out
}

// devices implements exposition.Devices.
type devices struct{ fleet *device.Fleet }

// Devices implements exposition.Devices.
func (d devices) Devices(context.Context) ([]answer.Device, error) {
	states := d.fleet.Devices()
	slices.SortFunc(states, func(a, b device.State) int { return cmp.Compare(a.Path, b.Path) })
	out := make([]answer.Device, len(states))
	for i, s := range states {
		out[i] = answer.Device{
			Path: string(s.Path), Driver: s.Driver, Line: s.Line, State: s.Status.String(), Owner: s.Owner,
			Interval: s.Interval.Seconds(), Problem: s.Problem, LastError: s.LastError,
			Reads: s.Reads, Failures: s.Failures, Points: s.Points, Reports: s.Reports, Lost: s.Lost, Misdated: s.Misdated, LastErrorTime: shape.Moment(s.LastErrorTime),
			LatencyMS: float64(s.Latency) / float64(time.Millisecond),
		}
		if s.LastError != "" {
			out[i].ErrorKind = s.LastErrorKind.String()
		}
		out[i].LastRead = shape.Moment(s.LastRead)
	}
	return out, nil
}
