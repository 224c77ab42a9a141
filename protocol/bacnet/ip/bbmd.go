package ip

import (
	"errors"
	"net/netip"
	"time"

	"voltbus/protocol/bacnet/bvlc"
)

// Distribution says for whom a port that is a BBMD passes on broadcasts (J.4, J.5.2).
type Distribution struct {
	// Peers are the BBMDs of other subnets: the broadcast distribution table. Each broadcasts in its subnet by itself.
	Peers []netip.AddrPort
	// MaxForeign is how many foreign devices may be registered at a time; 0: none. Only stations that Allow allows may.
	MaxForeign int
}

var errNoSubnet = errors.New("a BBMD needs the own address and the broadcast address of its subnet, and no other BBMD to register with")

// manage makes the port a BBMD if that is asked for.
func (p *Port) manage() error {
	d, own := p.config.Distribution, p.Address()
	if d == nil {
		return nil
	}
	if own.Addr().IsUnspecified() || !p.config.Broadcast.IsValid() || p.config.BBMD.IsValid() {
		return errNoSubnet
	}
	c := bvlc.BBMDConfig{
		Own: own, Broadcast: netip.AddrPortFrom(p.config.Broadcast, p.config.BroadcastPort), MaxForeign: d.MaxForeign,
	}
	for _, peer := range d.Peers {
		c.Peers = append(c.Peers, bvlc.Peer{BBMD: peer, Mask: bvlc.Itself()})
	}
	if allow := p.config.Allow; allow != nil {
		c.Allow = func(a netip.AddrPort) bool { return allow(Address{Link: a}) }
	}
	p.manager = bvlc.NewBBMD(c)
	return nil
}

// managed has the BBMD, if the port is one, pass on a message, and reports whether it is also for the own device.
func (p *Port) managed(from netip.AddrPort, broadcast bool, m *bvlc.Message) bool {
	if p.manager == nil || m.Function == bvlc.Result {
		return m.Function != bvlc.DistributeBroadcast
	}
	p.mu.Lock()
	send, pass := p.manager.Receive(time.Now(), from, broadcast, m)
	p.mu.Unlock()
	p.sendAll(send)
	return pass
}

// distribute passes on an own broadcast.
func (p *Port) distribute(message []byte) {
	if p.manager == nil {
		return
	}
	p.mu.Lock()
	send := p.manager.Distribute(time.Now(), message)
	p.mu.Unlock()
	p.sendAll(send)
}

// sendAll sends datagrams; one that cannot be sent is lost like one on the way.
func (p *Port) sendAll(list []bvlc.Datagram) {
	for _, d := range list {
		_ = p.writeRaw(d.Data, d.To)
	}
}
