package ip

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"voltbus/protocol/bacnet/bvlc"
	"voltbus/protocol/bacnet/npdu"
)

// Config says where a port listens and how it broadcasts.
type Config struct {
	// Listen is the address and UDP port, such as 10.0.0.5:47808. Without an address (":47808")
	// the port listens on all; port 0 means any free one.
	Listen netip.AddrPort
	// Broadcast is the broadcast address of the subnet, such as 10.0.0.255. Without it the port
	// broadcasts nothing unless there is a BBMD. Its UDP port is BroadcastPort.
	Broadcast netip.Addr
	// BroadcastPort is the UDP port of broadcasts; 0: that of Listen.
	BroadcastPort uint16
	// BBMD makes the port a foreign device of this BBMD, which passes on its broadcasts.
	BBMD netip.AddrPort
	// TTL is the time of a registration with the BBMD; 0: one minute. It is renewed at half time.
	TTL time.Duration
	// Distribution makes the port the BBMD of its subnet; nil: it is none. It needs an address in Listen, and Broadcast.
	Distribution *Distribution
	// Allow reports whether a station may speak to this one: what others send is dropped. It is called for each application message; nil
	// allows all. An address is no proof of who sends (clause J.1): anybody in the network can forge it.
	Allow func(from Address) bool
	// Carrier carries the messages in place of UDP, such as BACnet/SC; nil: a socket is opened as is said above.
	Carrier Carrier
	// Handler takes the application messages.
	Handler Handler
	// Routers is called with a message of the network layer; nil ignores them.
	Routers func(from netip.AddrPort, h npdu.Header, data []byte)
}

// Carrier is another data link than UDP. Addresses of its stations have the form that it gives them.
type Carrier interface {
	// Open has receive called with each NPDU that arrives, until Close has returned.
	Open(receive func(from netip.AddrPort, npdu []byte, broadcast bool)) error
	Send(to netip.AddrPort, npdu []byte) error
	Broadcast(npdu []byte) error
	// Address is that of the own station.
	Address() netip.AddrPort
	Close() error
}

// ErrNoBroadcast says that a port has neither a broadcast address nor a BBMD.
var ErrNoBroadcast = errors.New("the port cannot broadcast: set the broadcast address of the subnet or a BBMD")

// Port is an open socket. It may be used by several goroutines.
type Port struct {
	config  Config
	unicast *net.UDPConn
	others  []*net.UDPConn // sockets that hear broadcasts
	cancel  context.CancelFunc
	running sync.WaitGroup
	counts  counters

	mu           sync.Mutex
	registration *bvlc.Registration // nil unless there is a BBMD
	manager      *bvlc.BBMD         // nil unless the port is a BBMD
	registered   chan struct{}      // closed with the first success
	result       chan struct{}      // tells that a result arrived
}

type counters struct{ received, malformed, refused, sent atomic.Uint64 }

// Counts says how much a port did since it was opened.
type Counts struct {
	Received  uint64 // datagrams
	Malformed uint64 // of them without a readable header
	Refused   uint64 // of them from stations that are not allowed
	Sent      uint64 // datagrams
}

// Open opens the socket and starts to receive. Close ends it.
func Open(ctx context.Context, c Config) (*Port, error) {
	p := &Port{config: c, registered: make(chan struct{}), result: make(chan struct{}, 1)}
	if c.Carrier != nil {
		p.cancel = func() {}
		return p, c.Carrier.Open(p.carried)
	}
	if err := p.listen(ctx); err != nil {
		p.closeSockets()
		return nil, err
	}
	if err := p.manage(); err != nil {
		p.closeSockets()
		return nil, err
	}
	ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	if c.BBMD.IsValid() {
		ttl := c.TTL
		if ttl == 0 {
			ttl = time.Minute
		}
		p.registration = bvlc.NewRegistration(ttl)
		p.running.Go(func() { p.register(ctx) })
	}
	for _, conn := range append(p.others, p.unicast) {
		p.running.Go(func() { p.receive(conn) })
	}
	return p, nil
}

func (p *Port) listen(ctx context.Context) error {
	conn, err := listen(ctx, p.config.Listen, false)
	if err != nil {
		return fmt.Errorf("listen on %v: %w", p.config.Listen, err)
	}
	p.unicast = conn
	if p.config.BroadcastPort == 0 {
		p.config.BroadcastPort = p.Address().Port()
	}
	at := p.config.Listen.Addr()
	if !p.config.Broadcast.IsValid() || !at.IsValid() || at.IsUnspecified() {
		return nil
	}
	// A socket with an address does not hear broadcasts: another one does.
	address := netip.AddrPortFrom(p.config.Broadcast, p.config.BroadcastPort)
	conn, err = listen(ctx, address, true)
	if err != nil {
		return fmt.Errorf("listen for broadcasts on %v: %w", address, err)
	}
	p.others = append(p.others, conn)
	return nil
}

// listen opens a socket; shared ones are open to others on this machine too.
func listen(ctx context.Context, at netip.AddrPort, shared bool) (*net.UDPConn, error) {
	config := net.ListenConfig{}
	if shared {
		config.Control = share
	}
	if !at.Addr().IsValid() {
		at = netip.AddrPortFrom(netip.IPv4Unspecified(), at.Port())
	}
	conn, err := config.ListenPacket(ctx, "udp4", at.String())
	if err != nil {
		return nil, err
	}
	udp, ok := conn.(*net.UDPConn)
	if !ok {
		return nil, fmt.Errorf("no UDP socket: %T", conn)
	}
	_ = udp.SetReadBuffer(4 << 20) // thousands of devices may answer at once; the system may give less
	return udp, nil
}

// Address returns where the port listens, or the address of the own station with a carrier.
func (p *Port) Address() netip.AddrPort {
	if p.config.Carrier != nil {
		return p.config.Carrier.Address()
	}
	if p.unicast == nil {
		return netip.AddrPort{}
	}
	if a, ok := p.unicast.LocalAddr().(*net.UDPAddr); ok {
		return a.AddrPort()
	}
	return netip.AddrPort{}
}

// Counts returns the counters.
func (p *Port) Counts() Counts {
	return Counts{p.counts.received.Load(), p.counts.malformed.Load(), p.counts.refused.Load(), p.counts.sent.Load()}
}

// Close ends the port and waits for its goroutines.
func (p *Port) Close() error {
	p.cancel()
	if p.config.Carrier != nil {
		return p.config.Carrier.Close()
	}
	p.closeSockets()
	p.running.Wait()
	return nil
}

func (p *Port) closeSockets() {
	for _, conn := range append(p.others, p.unicast) {
		if conn != nil {
			_ = conn.Close()
		}
	}
}

// Send sends an application message to a station; reply says that an answer is expected.
func (p *Port) Send(to Address, apdu []byte, reply bool) error {
	b := make([]byte, 0, len(apdu)+64)
	b = npdu.Append(b, npdu.Header{Destination: to.Remote, Reply: reply})
	return p.write(bvlc.OriginalUnicast, append(b, apdu...), to.Link)
}

// Broadcast sends an application message to all stations: of the local network (0), of one
// network behind a router, or of all networks ([npdu.Global]).
func (p *Port) Broadcast(network uint16, apdu []byte) error {
	return p.broadcast(append(npdu.Append(nil, npdu.Header{Destination: npdu.Address{Net: network}}), apdu...))
}

// AskRouters broadcasts Who-Is-Router-To-Network (clause 6.4.1), for all networks.
func (p *Port) AskRouters() error {
	return p.broadcast(npdu.Append(nil, npdu.Header{IsMessage: true, Message: npdu.WhoIsRouter}))
}

func (p *Port) broadcast(message []byte) error {
	switch {
	case p.config.Carrier != nil:
		p.counts.sent.Add(1)
		return p.config.Carrier.Broadcast(message)
	case p.config.BBMD.IsValid():
		return p.write(bvlc.DistributeBroadcast, message, p.config.BBMD)
	case p.config.Broadcast.IsValid():
		p.distribute(message)
		return p.write(bvlc.OriginalBroadcast, message, netip.AddrPortFrom(p.config.Broadcast, p.config.BroadcastPort))
	}
	return ErrNoBroadcast
}

func (p *Port) write(f bvlc.Function, message []byte, to netip.AddrPort) error {
	if p.config.Carrier != nil {
		p.counts.sent.Add(1)
		return p.config.Carrier.Send(to, message)
	}
	return p.writeRaw(bvlc.AppendNPDU(make([]byte, 0, len(message)+4), f, message), to)
}

func (p *Port) writeRaw(datagram []byte, to netip.AddrPort) error {
	if _, err := p.unicast.WriteToUDPAddrPort(datagram, to); err != nil {
		return fmt.Errorf("send to %v: %w", to, err)
	}
	p.counts.sent.Add(1)
	return nil
}

// receive reads a socket until it is closed.
func (p *Port) receive(conn *net.UDPConn) {
	datagram := make([]byte, bvlc.MaxDatagram+1)
	own := p.Address()
	for {
		n, from, err := conn.ReadFromUDPAddrPort(datagram)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // such as a port that is not reachable: the request tells of it
		}
		from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		p.counts.received.Add(1)
		if from == own && conn != p.unicast {
			continue // our own broadcast
		}
		if !p.take(from, conn != p.unicast, datagram[:n]) {
			p.counts.malformed.Add(1)
		}
	}
}

// take reports whether the headers could be read.
func (p *Port) take(from netip.AddrPort, broadcast bool, datagram []byte) bool {
	m, err := bvlc.Parse(datagram)
	if err != nil {
		return false
	}
	if !p.managed(from, broadcast, &m) {
		return true
	}
	switch m.Function {
	case bvlc.OriginalUnicast, bvlc.OriginalBroadcast, bvlc.DistributeBroadcast: // the last one only to a BBMD
	case bvlc.ForwardedNPDU:
		from = m.Source
	case bvlc.Result:
		p.registrationResult(from, m.Result)
		return true
	default:
		return true // for BBMDs
	}
	return p.takeNPDU(from, m.NPDU, m.Function != bvlc.OriginalUnicast)
}

// carried takes what a carrier received.
func (p *Port) carried(from netip.AddrPort, message []byte, broadcast bool) {
	p.counts.received.Add(1)
	if !p.takeNPDU(from, message, broadcast) {
		p.counts.malformed.Add(1)
	}
}

// takeNPDU reports whether the header of the network layer could be read.
func (p *Port) takeNPDU(from netip.AddrPort, message []byte, broadcast bool) bool {
	h, rest, err := npdu.Parse(message)
	if err != nil {
		return false
	}
	switch {
	case h.IsMessage:
		if p.config.Routers != nil {
			p.config.Routers(from, h, append([]byte(nil), rest...))
		}
	case !h.Destination.IsLocal() && h.Destination.Net != npdu.Global: // for a network behind a router, which we are not
	case p.config.Allow != nil && !p.config.Allow(Address{Link: from, Remote: h.Source}):
		p.counts.refused.Add(1)
	case p.config.Handler != nil && len(rest) > 0:
		p.config.Handler(Message{
			From: Address{Link: from, Remote: h.Source}, APDU: append([]byte(nil), rest...),
			Broadcast: broadcast,
		})
	}
	return true
}
