package channel

import (
	"context"

	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// Hub holds what channels share. It may be used concurrently.
type Hub struct {
	fragments *station.Pool
	wires     *station.Pool
	wheel     *wheel
}

// NewHub returns a hub for fragments of at most size octets, 0 for 2048.
func NewHub(size int) *Hub {
	if size == 0 {
		size = station.FragmentSize
	}
	return &Hub{
		fragments: station.NewPool(size),
		wires:     station.NewPool(transport.Size(size)),
		wheel:     newWheel(),
	}
}

// Run lets time pass for all channels of the hub until ctx ends; without it nothing
// times out and no poll is made. It returns nil.
func (h *Hub) Run(ctx context.Context) error {
	h.wheel.run(ctx)
	return nil
}
