package sc

import (
	"context"
	"errors"
	"net/netip"
	"sync"
)

// Carrier is a node as the data link of a client or a device, as ip.Config takes it. Stations have the address that [Station]
// returns.
type Carrier struct {
	node *Node
	stop context.CancelFunc

	mu      sync.Mutex
	receive func(from netip.AddrPort, npdu []byte, broadcast bool)
	running sync.WaitGroup
}

// NewCarrier returns a carrier whose node has a configuration; its Handler is the carrier's own.
func NewCarrier(c Config) *Carrier {
	carrier := &Carrier{}
	c.Handler = carrier.take
	carrier.node = New(c)
	return carrier
}

// Node returns the node of the carrier.
func (c *Carrier) Node() *Node { return c.node }

// Open starts the node, which connects to its hub as soon as that can be reached. Close ends it.
func (c *Carrier) Open(receive func(from netip.AddrPort, npdu []byte, broadcast bool)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.receive = receive
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.running.Go(func() { _ = c.node.Run(ctx) }) // it ends with nil
	return nil
}

// Close ends the node and waits for it.
func (c *Carrier) Close() error {
	c.stop()
	c.running.Wait()
	return nil
}

func (c *Carrier) take(from VMAC, npdu []byte, broadcast bool) {
	c.mu.Lock()
	receive := c.receive
	c.mu.Unlock()
	receive(Station(from), npdu, broadcast)
}

// ErrStation says that an address is none that Station returned.
var ErrStation = errors.New("the address is none of a BACnet/SC node")

// Send sends an NPDU to a station.
func (c *Carrier) Send(to netip.AddrPort, npdu []byte) error {
	octets := to.Addr().As16()
	vmac := VMAC(octets[10:])
	if Station(vmac) != to {
		return ErrStation
	}
	return c.node.Send(vmac, npdu)
}

// Broadcast sends an NPDU to all nodes.
func (c *Carrier) Broadcast(npdu []byte) error { return c.node.Send(BroadcastVMAC(), npdu) }

// Station returns the address of a node where addresses of UDP are usual: a unique local address of IPv6 that ends with the VMAC, and
// no port.
func Station(v VMAC) netip.AddrPort {
	octets := [16]byte{0xFD, 0xBA, 0xC0, 0x5C}
	copy(octets[10:], v[:])
	return netip.AddrPortFrom(netip.AddrFrom16(octets), 0)
}
