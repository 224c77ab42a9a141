package channel

import (
	"context"
	"sync"

	"voltbus/protocol/dnp3/station"
	"voltbus/protocol/dnp3/transport"
)

// HubConfig configures what channels share. The zero value is ready to use.
type HubConfig struct {
	// FragmentSize bounds fragments in octets, 0 for 2048.
	FragmentSize int
	// Workers is the number of goroutines that serve all TCP connections without TLS,
	// on Linux. 0, and anything else, has a goroutine of its own serve each connection.
	// Workers cost less processor time for a message and use all processors; in return a
	// handler that takes long holds up the other connections of its worker. As many as
	// there are processors are enough.
	Workers int
	// HandOver has the goroutine of a connection write what a port has to send where writing may block: for programs whose
	// goroutines submit requests to many peers and must not be held up by one that does not read.
	HandOver bool
}

// Hub holds what channels share. It may be used concurrently.
type Hub struct {
	fragments *station.Pool
	wires     *station.Pool
	wheel     *wheel
	poller    *poller // nil without workers
	handOver  bool
}

// NewHub returns a hub that is not running.
func NewHub(c HubConfig) *Hub {
	if c.FragmentSize == 0 {
		c.FragmentSize = station.FragmentSize
	}
	return &Hub{
		fragments: station.NewPool(c.FragmentSize),
		wires:     station.NewPool(transport.Size(c.FragmentSize)),
		wheel:     newWheel(),
		poller:    newPoller(c.Workers),
		handOver:  c.HandOver,
	}
}

// Run drives the timers of all channels of the hub, and its workers, until ctx ends; without it nothing times
// out and no poll is made. It returns nil. The connections that workers serve end with it.
func (h *Hub) Run(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	h.poller.start(ctx, &working, h.wires)
	h.wheel.run(ctx)
	return nil
}
