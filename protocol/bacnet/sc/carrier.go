package sc

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync"
)

// Carrier is a node as the data link of a client or a device, as ip.Config takes it. Stations have the address that [Station]
// returns.
type Carrier struct {
	node *Node
	stop context.CancelFunc

	mu       sync.Mutex
	receive  func(from netip.AddrPort, npdu []byte, broadcast bool)
	problems map[string]error // of hubs that could not be reached, or were lost, since the node was last connected
	hubs     []string
	running  sync.WaitGroup

	connected bool          // a hub takes messages of the node
	news      chan struct{} // closed, and replaced, when the connection or a problem changes
	losses    uint64
}

// NewCarrier returns a carrier whose node has a configuration; its Handler is the carrier's own.
func NewCarrier(c Config) *Carrier {
	carrier := &Carrier{problems: make(map[string]error), hubs: []string{c.Primary, c.Failover}, news: make(chan struct{})}
	c.Handler = carrier.take
	other := c.Changed
	c.Changed = func(hub string, err error) {
		carrier.changed(hub, err)
		if other != nil {
			other(hub, err)
		}
	}
	carrier.node = New(c)
	return carrier
}

// changed remembers why there is no connection.
func (c *Carrier) changed(hub string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		clear(c.problems)
		c.connected = true
	} else {
		c.problems[hub] = err
		if c.connected {
			c.connected = false
			c.losses++
		}
	}
	close(c.news)
	c.news = make(chan struct{})
}

// Losses returns how often the connection to a hub was lost since Open, and what was under way with it.
func (c *Carrier) Losses() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.losses
}

// Problem says why no hub takes messages now; nil if one does.
func (c *Carrier) Problem() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.problem()
}

// problem is Problem while the mutex is held.
func (c *Carrier) problem() error {
	if c.connected {
		return nil
	}
	var problems []error
	for _, hub := range c.hubs {
		if err := c.problems[hub]; err != nil {
			problems = append(problems, err)
		}
	}
	switch len(problems) {
	case 0:
		return ErrNotConnected
	case 1:
		return problems[0]
	}
	return fmt.Errorf("%w; %w", problems[0], problems[1])
}

// hopeless reports whether a certificate is the problem with each hub: to wait does not help. The mutex is held.
func (c *Carrier) hopeless() bool {
	for _, hub := range c.hubs {
		if hub != "" && !errors.Is(c.problems[hub], ErrCertificate) {
			return false
		}
	}
	return true
}

// Await waits until a hub takes messages of the node. When ctx ends before, or a certificate is not accepted, the error says why none
// does.
func (c *Carrier) Await(ctx context.Context) error {
	for {
		c.mu.Lock()
		problem, hopeless, news := c.problem(), c.hopeless(), c.news
		c.mu.Unlock()
		if problem == nil || hopeless {
			return problem
		}
		select {
		case <-news:
		case <-ctx.Done():
			return problem
		}
	}
}

// Address returns the address of the node itself, as its stations have one.
func (c *Carrier) Address() netip.AddrPort { return Station(c.node.VMAC()) }

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
	vmac, is := VMACOf(to)
	if !is {
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

// VMACOf returns the address of a node from what Station returned.
func VMACOf(station netip.AddrPort) (v VMAC, is bool) {
	if !station.Addr().Is6() {
		return VMAC{}, false
	}
	octets := station.Addr().As16()
	v = VMAC(octets[10:])
	return v, Station(v) == station
}
