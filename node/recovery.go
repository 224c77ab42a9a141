package node

import (
	"context"
	"time"

	"voltbus/device"
	"voltbus/point"
	"voltbus/store"
)

// recorded is where samples of devices are kept, for gaps to be found and filled.
func recorded(n *Node) device.History {
	h := device.History{Record: n.recorder.Record}
	if s := n.history.Store(); s != nil {
		h.Read = func(ctx context.Context, p point.Path, from, to time.Time, emit func([]point.Sample) error) error {
			n.Settle() //nolint:contextcheck // has a bound of its own; a sample that is on its way is no gap
			return s.Read(ctx, store.Range{Points: []point.Path{p}, From: from, To: to, GoodOnly: true}, emit)
		}
	}
	return h
}
