package bvlc

import (
	"net/netip"
	"slices"
	"time"
)

// grace is how much longer than its time a foreign device stays in the table (J.5.2.3).
const grace = 30 * time.Second

// Datagram is to be sent.
type Datagram struct {
	To   netip.AddrPort
	Data []byte
}

// BBMDConfig says for whom a BBMD passes on broadcasts.
type BBMDConfig struct {
	Own       netip.AddrPort // of the BBMD itself
	Broadcast netip.AddrPort // of its subnet
	// Peers is the broadcast distribution table; an entry for the BBMD itself is passed over.
	Peers []Peer
	// MaxForeign is how many foreign devices may be registered at a time; 0: none.
	MaxForeign int
	// Allow reports whether a station may register as a foreign device; nil allows all. An address is no proof of who sends.
	Allow func(netip.AddrPort) bool
}

// BBMD is a BACnet/IP broadcast management device (J.4, J.5.2): it passes broadcasts on between its subnet, other BBMDs and the foreign
// devices that are registered with it. It is told the time and what arrived, and has no socket. The distribution table is that of
// its configuration: writes of it are refused, as J.2.2 allows. It is used by one goroutine at a time.
type BBMD struct {
	config  BBMDConfig
	foreign map[netip.AddrPort]registered
}

// registered is a foreign device in the table.
type registered struct {
	ttl time.Duration
	end time.Time // without the grace
}

// NewBBMD makes a BBMD without foreign devices.
func NewBBMD(c BBMDConfig) *BBMD {
	c.Peers = slices.DeleteFunc(slices.Clone(c.Peers), func(p Peer) bool { return p.BBMD == c.Own })
	return &BBMD{config: c, foreign: map[netip.AddrPort]registered{}}
}

// Receive takes a message that arrived from a station, by unicast or by broadcast, and returns what is to be sent. pass says that the NPDU is
// also for the own device: if it is not, it has to be dropped.
func (b *BBMD) Receive(now time.Time, from netip.AddrPort, broadcast bool, m *Message) (send []Datagram, pass bool) {
	b.expire(now)
	switch m.Function {
	case OriginalUnicast:
		return nil, true
	case OriginalBroadcast: // J.4.5; a unicast that says so may come from anywhere, and is no broadcast of the subnet
		if !broadcast {
			return nil, true
		}
		return b.distribute(from, from, m.NPDU), true
	case ForwardedNPDU:
		return b.forwarded(from, broadcast, m)
	case DistributeBroadcast: // J.4.5, only of foreign devices
		if _, is := b.foreign[from]; !is {
			return reply(from, DistributeRefuse), false
		}
		return append(b.distribute(from, from, m.NPDU), b.local(from, m.NPDU)), true
	case RegisterForeignDevice:
		return reply(from, b.register(now, from, m.TTL)), false
	case DeleteForeignEntry:
		code := Success
		if _, is := b.foreign[m.Source]; !is {
			code = DeleteForeignEntryRefuse
		}
		delete(b.foreign, m.Source)
		return reply(from, code), false
	case ReadBroadcastTable:
		own := Peer{BBMD: b.config.Own, Mask: Itself()}
		return []Datagram{{from, AppendPeers(nil, ReadBroadcastTableAck, append([]Peer{own}, b.config.Peers...))}}, false
	case ReadForeignTable:
		return []Datagram{{from, AppendForeigns(nil, b.table(now))}}, false
	case WriteBroadcastTable:
		return reply(from, WriteBroadcastTableRefuse), false
	case Result, ReadBroadcastTableAck, ReadForeignTableAck, SecureBVLL: // for who asked
	}
	return nil, false
}

// Distribute returns what is to be sent beside a broadcast that the own device sends in its subnet.
func (b *BBMD) Distribute(now time.Time, npdu []byte) []Datagram {
	b.expire(now)
	return b.distribute(b.config.Own, netip.AddrPort{}, npdu)
}

// Itself is the mask of a peer that broadcasts in its subnet by itself.
func Itself() [4]byte { return [4]byte{255, 255, 255, 255} }

// forwarded takes what another BBMD passes on (J.4.5): what came to this BBMD itself is broadcast in its subnet; what a directed broadcast
// brought is there already. Others than the BBMDs of the table are not heard.
func (b *BBMD) forwarded(from netip.AddrPort, broadcast bool, m *Message) (send []Datagram, pass bool) {
	if !slices.ContainsFunc(b.config.Peers, func(p Peer) bool { return p.BBMD == from }) || m.Source == b.config.Own {
		return nil, false
	}
	send = b.toForeign(m.Source, m.Source, m.NPDU)
	if !broadcast {
		send = append(send, b.local(m.Source, m.NPDU))
	}
	return send, true
}

// distribute passes a broadcast of source on to the other BBMDs and to the foreign devices but one.
func (b *BBMD) distribute(source, but netip.AddrPort, npdu []byte) []Datagram {
	send := make([]Datagram, 0, len(b.config.Peers)+len(b.foreign)+1)
	for _, p := range b.config.Peers {
		send = append(send, Datagram{p.target(), AppendForwarded(nil, source, npdu)})
	}
	return append(send, b.toForeign(source, but, npdu)...)
}

// target is where broadcasts for a peer go: to itself, or as a directed broadcast into its subnet (J.4.3.2).
func (p Peer) target() netip.AddrPort {
	a := p.BBMD.Addr().As4()
	for i := range a {
		a[i] |= ^p.Mask[i]
	}
	return netip.AddrPortFrom(netip.AddrFrom4(a), p.BBMD.Port())
}

func (b *BBMD) toForeign(source, but netip.AddrPort, npdu []byte) (send []Datagram) {
	for device := range b.foreign {
		if device != but {
			send = append(send, Datagram{device, AppendForwarded(nil, source, npdu)})
		}
	}
	return send
}

// local is a broadcast of source in the own subnet.
func (b *BBMD) local(source netip.AddrPort, npdu []byte) Datagram {
	return Datagram{b.config.Broadcast, AppendForwarded(nil, source, npdu)}
}

func (b *BBMD) register(now time.Time, device netip.AddrPort, seconds uint16) ResultCode {
	_, is := b.foreign[device]
	if (!is && len(b.foreign) >= b.config.MaxForeign) || (b.config.Allow != nil && !b.config.Allow(device)) {
		return RegisterRefuse
	}
	ttl := time.Duration(seconds) * time.Second
	b.foreign[device] = registered{ttl: ttl, end: now.Add(ttl)}
	return Success
}

func (b *BBMD) expire(now time.Time) {
	for device, r := range b.foreign {
		if !now.Before(r.end.Add(grace)) {
			delete(b.foreign, device)
		}
	}
}

// table lists the foreign devices by address. The time left contains the grace (J.5.2.1.3).
func (b *BBMD) table(now time.Time) []Foreign {
	list := make([]Foreign, 0, len(b.foreign))
	for device, r := range b.foreign {
		list = append(list, Foreign{Device: device, TTL: r.ttl, Left: min(r.end.Add(grace).Sub(now), 65535*time.Second)})
	}
	slices.SortFunc(list, func(x, y Foreign) int { return x.Device.Compare(y.Device) })
	return list
}

func reply(to netip.AddrPort, code ResultCode) []Datagram {
	return []Datagram{{to, AppendResult(nil, code)}}
}
